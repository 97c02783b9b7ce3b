#include "runtime/streams/host_activity.h"

#include <dirent.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace opgate::simulator {
namespace host_activity {

std::atomic<std::uint64_t> begun{0};
std::atomic<std::uint64_t> ended{0};

// Threads that have called the runtime. Never destroyed: libraries call it while the process ends.
struct Callers {
  std::mutex mutex;
  std::set<long> threads;
};

Callers& callers() {
  static auto* const only = new Callers;
  return *only;
}

// In a child process, the thread that called fork has another number.
void note_caller() {
  thread_local long known = 0;
  const long own = syscall(SYS_gettid);
  if (known == own) return;
  known = own;
  const std::lock_guard lock(callers().mutex);
  callers().threads.insert(own);
}

std::string text_of(long thread, const char* file) {
  std::ifstream stream("/proc/self/task/" + std::to_string(thread) + "/" + file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

struct Seen {
  bool runs = false;  ///< or could run, if the machine had the time
  std::chrono::milliseconds computed{0};
};

// Empty if the thread has ended.
std::optional<Seen> see(long thread) {
  const std::string text = text_of(thread, "stat");
  const std::size_t name_end = text.rfind(')');  // the name may hold any character
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(text.substr(name_end + 1));
  std::string state;
  fields >> state;
  // The fields from `ppid` to `cmajflt` come before the times.
  constexpr int kBetween = 10;
  std::string skipped;
  for (int i = 0; i < kBetween; ++i) fields >> skipped;
  long user = 0;
  long system = 0;
  fields >> user >> system;
  if (!fields) return std::nullopt;
  static const long ticks_of_second = sysconf(_SC_CLK_TCK);
  return Seen{state == "R", std::chrono::milliseconds((user + system) * 1000 / ticks_of_second)};
}

enum class Wait : std::uint8_t { for_threads, for_time_or_process, for_something_else };

// A system that does not name the call in which a thread waits leaves this open.
Wait wait_of(long thread) {
  const std::string text = text_of(thread, "syscall");
  char* end = nullptr;
  const long number = std::strtol(text.c_str(), &end, 10);
  if (end == text.c_str()) return Wait::for_something_else;
  switch (number) {
    case SYS_futex:
      return Wait::for_threads;
    case SYS_nanosleep:
    case SYS_clock_nanosleep:
    case SYS_wait4:
    case SYS_waitid:
      return Wait::for_time_or_process;
    default:
      return Wait::for_something_else;
  }
}

std::vector<long> other_threads() {
  std::vector<long> threads;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc/self/task"), &closedir);
  if (folder == nullptr) return threads;
  const long own = syscall(SYS_gettid);
  while (const dirent* const entry = readdir(folder.get())) {
    const long thread = std::strtol(entry->d_name, nullptr, 10);
    if (thread != 0 && thread != own) threads.push_back(thread);
  }
  return threads;
}

bool has_called(long thread) {
  const std::lock_guard lock(callers().mutex);
  return callers().threads.contains(thread);
}

}  // namespace host_activity

void begin_host_call() {
  host_activity::note_caller();
  ++host_activity::begun;
}

void end_host_call() { ++host_activity::ended; }

std::uint64_t host_calls_begun() { return host_activity::begun; }

bool is_in_host_call() {
  // In this order, so that a call that ends meanwhile does not hide one that begins.
  const std::uint64_t ended = host_activity::ended;
  return ended != host_activity::begun;
}

void HostWatch::look() {
  using namespace host_activity;
  using std::chrono::milliseconds;
  const Clock::time_point now = Clock::now();
  // A machine that stops for a while stops the program, too.
  constexpr milliseconds kLongestStep{100};
  const auto since_last = std::chrono::duration_cast<milliseconds>(now - last_look_);
  const milliseconds passed = is_first_ ? milliseconds(0) : std::min(since_last, kLongestStep);
  bool any_runs = false;
  bool all_wait_for_threads = true;
  milliseconds busiest{0};
  for (const long thread : other_threads()) {
    const std::optional<Seen> seen = see(thread);
    if (!seen) continue;
    const auto [before, is_new] = computed_before_.try_emplace(thread, seen->computed);
    busiest = std::max(busiest, seen->computed - before->second);
    any_runs = any_runs || seen->runs;
    if (any_runs) continue;
    const Wait wait = wait_of(thread);
    if (wait == Wait::for_time_or_process || (wait != Wait::for_threads && has_called(thread)))
      all_wait_for_threads = false;
  }
  const bool has_computed = busiest > computed_;
  computed_ = std::max(computed_, busiest);
  if (!any_runs && !has_computed) asleep_ += passed;
  const bool is_still = !any_runs && !has_computed && all_wait_for_threads;
  stood_still_ = is_still && was_still_ ? stood_still_ + passed : milliseconds(0);
  was_still_ = is_still;
  last_look_ = now;
  is_first_ = false;
}

}  // namespace opgate::simulator
