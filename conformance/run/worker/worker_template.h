// A process that has done all that a worker does before its first call, and forks workers: one in Python has
// imported torch and the project's modules, a native one has loaded the libraries and made the plan. A worker
// then starts in milliseconds instead of seconds, which counts where an operator crashes again and again.
#pragma once

#include <nlohmann/json.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "process/child_process.h"
#include "run/worker/worker_process.h"

namespace opgate {

class WorkerTemplate {
 public:
  /// Starts nothing yet. `program` is that of a worker.
  explicit WorkerTemplate(WorkerProgram program) : process_(std::move(program)) {}

  /// Starts the process without waiting for it.
  void start() { process_.start(); }

  /// Waits until the process is ready, and returns what it said. Throws SetupError if it cannot start.
  nlohmann::json await_ready() { return process_.await_ready(); }

  /// False once the process has said that it cannot fork safely, because a module or library has started
  /// threads. Then workers must be started like the template itself.
  bool can_fork() const { return can_fork_; }

  /// A new worker that prints into `log`, or nothing if that takes longer: then it must be asked again.
  /// Starts the process if that has not been done. `checks` are ids of checks whose Python packages the
  /// worker will need, and which the template imports if it has not yet. `mutant` is the one that the worker
  /// runs; see process/mutants.h. Throws SetupError if the process ends.
  std::unique_ptr<Child> fork(const std::filesystem::path& log, const std::vector<std::string>& checks,
                              int mutant = 0);

  /// The descriptor to poll for reading before fork() is asked again; -1 where there is none.
  int answers() const { return process_.answers(); }

  /// Lets the process exit.
  void dismiss() { process_.dismiss(); }

 private:
  struct Request {
    std::filesystem::path log;
    std::streamoff log_begin = 0;
    std::chrono::steady_clock::time_point deadline = {};
    ChildPipes pipes = {};
    std::optional<nlohmann::json> answer = {};
  };

  void read_answers();
  void lose(const std::optional<Judgement>& lost);

  WorkerProcess process_;
  bool can_fork_ = true;
  std::unique_ptr<Request> request_;  // the one that the process works on
};

}  // namespace opgate
