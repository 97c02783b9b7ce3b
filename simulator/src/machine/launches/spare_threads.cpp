#include "machine/launches/spare_threads.h"

#include <map>
#include <mutex>
#include <utility>

namespace opgate::simulator {
namespace {

constexpr std::size_t kMostKept = 4096;

struct Spare {
  std::mutex mutex;
  std::map<std::size_t, std::vector<std::vector<Thread>>> by_count;
  std::size_t kept = 0;
};

// Never destroyed: kernels may run while the process ends.
Spare& spare() {
  static auto* const only = new Spare;
  return *only;
}

}  // namespace

std::vector<Thread> take_threads(std::size_t count) {
  Spare& from = spare();
  const std::lock_guard lock(from.mutex);
  auto& found = from.by_count[count];
  if (found.empty()) return std::vector<Thread>(count);
  std::vector<Thread> threads = std::move(found.back());
  found.pop_back();
  from.kept -= count;
  return threads;
}

void keep_threads(std::vector<Thread> threads) {
  Spare& into = spare();
  const std::lock_guard lock(into.mutex);
  if (into.kept + threads.size() > kMostKept) {
    into.by_count.clear();
    into.kept = 0;
  }
  for (Thread& thread : threads) thread.forget();
  into.kept += threads.size();
  into.by_count[threads.size()].push_back(std::move(threads));
}

}  // namespace opgate::simulator
