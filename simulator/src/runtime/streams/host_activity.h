// What the threads of the simulated program do: whether they call the runtime, compute, or wait.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>

namespace opgate::simulator {

/// A thread begins a function of the runtime, or has ended it.
void begin_host_call();
void end_host_call();

/// Grows with each function that begins.
std::uint64_t host_calls_begun();
bool is_in_host_call();

/// Watches the program from another thread between two functions of the runtime.
class HostWatch {
 public:
  /// Looks at all threads but the calling one. To be called again and again.
  void look();

  /// For so long, each thread that has ever called the runtime has waited for other threads (for a lock, a
  /// condition, or the end of a thread), and none has run or slept for a while.
  std::chrono::milliseconds stood_still() const { return stood_still_; }

  /// The time of the program itself since the start: what its busiest thread has computed, and how long no
  /// thread was able to run. On a slow or busy machine it goes on as slowly as the program does.
  std::chrono::milliseconds own_time() const { return computed_ + asleep_; }

 private:
  using Clock = std::chrono::steady_clock;

  Clock::time_point last_look_{};
  bool is_first_ = true;
  bool was_still_ = false;
  std::map<long, std::chrono::milliseconds> computed_before_;  ///< by each thread, when it was seen first
  std::chrono::milliseconds computed_{0};
  std::chrono::milliseconds asleep_{0};
  std::chrono::milliseconds stood_still_{0};
};

}  // namespace opgate::simulator
