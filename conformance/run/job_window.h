// The jobs that a worker has been sent and has not answered: how many may be ahead of their answers, and how
// long the first may still take.
#pragma once

#include <chrono>
#include <deque>
#include <string_view>

#include "run/work_queue.h"
#include "run/worker/worker_process.h"

namespace opgate {

class JobWindow {
 public:
  /// For jobs of this process, which must outlive the window.
  explicit JobWindow(const WorkerProcess& process) : process_(process) { narrow(); }

  bool empty() const { return jobs_.empty(); }
  size_t size() const { return jobs_.size(); }
  const Job& first() const { return jobs_.front(); }

  /// How many jobs may be in flight, if `left` is the worker's share of what is left: near the end of the
  /// queue, each worker takes only that.
  size_t most(size_t left) const;

  void add(Job job);

  /// Removes the first job: the time of the next one begins.
  Job take_first();

  /// Removes the job that was sent last.
  Job take_last();

  /// Adapts the window to the worker's speed. Returns the mean seconds per answer since the last call.
  double keep_pace(size_t answers);

  /// The seconds since the first job began, or the last answers came.
  double seconds_of_first() const;

  /// Makes the window as small as it was at first, for a new process.
  void narrow();

  /// Whether the first job has taken longer than its limit, and not because the machine is busy: then it gets
  /// more time.
  bool is_late();

  /// The option that sets the limit of the first job; empty if no option does.
  std::string_view option_of_limit() const;

 private:
  void begin_time();
  bool makes_progress();

  const WorkerProcess& process_;
  std::deque<Job> jobs_;
  size_t size_{};  // how many calls may be sent ahead of their answers
  std::chrono::steady_clock::time_point busy_since_;
  std::chrono::steady_clock::time_point deadline_;
  // For the first job: when it began, and how long the process had run on processors then and when it was
  // last looked at.
  std::chrono::steady_clock::time_point began_;
  std::chrono::nanoseconds cpu_at_begin_{};
  std::chrono::nanoseconds cpu_seen_{};
};

}  // namespace opgate
