#include "process/concurrently.h"

#include <barrier>
#include <thread>
#include <vector>

namespace opgate {

void run_concurrently(size_t threads, size_t rounds,
                      const std::function<bool(size_t thread, size_t round)>& work) {
  std::barrier start(static_cast<std::ptrdiff_t>(threads));
  std::vector<std::thread> running;
  for (size_t thread = 0; thread < threads; ++thread) {
    running.emplace_back([&, thread] {
      for (size_t round = 0; round < rounds; ++round) {
        start.arrive_and_wait();
        if (!work(thread, round)) break;
      }
      start.arrive_and_drop();
    });
  }
  for (std::thread& thread : running) thread.join();
}

}  // namespace opgate
