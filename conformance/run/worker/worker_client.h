// The supervisor's side of the protocol with one worker: sends it jobs from queues and reads its answers. If
// the process dies or hangs, another one is started, which takes the rest.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "run/job_window.h"
#include "run/work_queue.h"
#include "run/worker/worker_process.h"

namespace opgate {

class WorkerTemplate;

class WorkerClient {
 public:
  /// Where the jobs come from, and where the answers go.
  struct Work {
    std::vector<Queue*> queues;  ///< one after the other; not empty
    size_t sharers;              ///< the number of workers that take jobs from them
    RunListener& listener;
    std::function<void(const nlohmann::json& preparation, const Judgement& lost)> on_preparation_failed;
  };
  /// A process from which workers are forked for as long as it can fork, and the checks that they need.
  struct ForkedFrom {
    WorkerTemplate* process;
    std::vector<std::string> checks;
  };

  /// Starts nothing yet.
  WorkerClient(WorkerProgram program, Work work, std::optional<ForkedFrom> forked_from = std::nullopt);
  WorkerClient(const WorkerClient&) = delete;
  WorkerClient& operator=(const WorkerClient&) = delete;

  /// Whether all jobs of the queues have been answered.
  bool finished();

  /// Sends jobs so that the worker stays busy. Starts a worker if there is work and none runs.
  void feed();

  /// The descriptors to poll for reading, and for writing where data waits to be sent; else -1.
  int answers() const;
  int commands() const { return process_.commands(); }

  /// Sends the data that waits.
  void send() { process_.flush(); }

  /// Reads the answers that have arrived. Throws SetupError if the worker reports that its set-up is
  /// broken.
  void receive();

  /// Ends a worker that has not answered within its limit.
  void check_deadline();

  /// What the worker does, for progress: the case, call or preparation, what it waits for, and for how long
  /// where that is seconds. Empty if it has nothing to do.
  std::string current() const;

  /// Lets the worker exit without waiting for it: no more commands come.
  void close() { process_.close(); }

  /// Lets the worker exit, and stops waiting for it.
  void dismiss() { process_.dismiss(); }

 private:
  void start();
  nlohmann::json command_of(const Job& job) const;
  void take(const std::string& line, double seconds);
  bool answers_job(const nlohmann::json& message, const Job& job) const;
  void take_verdicts(const nlohmann::json& message, double seconds);
  void lose(const std::optional<Judgement>& lost);
  std::string occupation() const;
  void begin_to(std::string what);

  const Work work_;
  const std::optional<ForkedFrom> forked_from_;
  WorkerProcess process_;
  JobWindow jobs_;                               // in flight
  Queue* queue_;                                 // the one of the queues that they are from
  std::string doing_;                            // what the worker reports that it is doing
  std::chrono::steady_clock::time_point began_;  // to do that, or to start
};

}  // namespace opgate
