// One worker process: starts it, sends it jobs from a queue and reads its answers. Where the worker dies or
// hangs, gives the case that it was running a verdict, starts another worker and goes on.
#pragma once

#include <chrono>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "judging/call_facts.h"
#include "process/child_process.h"
#include "run/crash_stack.h"
#include "run/protocol.h"
#include "run/work_queue.h"

namespace opgate {

class PythonTemplate;

class WorkerHandle {
 public:
  /// Receives what the workers answer.
  struct Listener {
    Queue::OnVerdict verdict;
    std::function<void(Calls::Position, const CallFacts&)> facts = [](Calls::Position, const CallFacts&) {};
    /// The worker spent this many seconds on the job.
    std::function<void(const Job&, double)> took = [](const Job&, double) {};
  };
  using OnPreparationFailed =
      std::function<void(const nlohmann::json& preparation, const std::string& reason)>;

  struct Program {
    Command command;
    std::filesystem::path log;
    Setup setup;
  };

  explicit WorkerHandle(Program program) : program_(std::move(program)) {}

  /// Starts the worker without waiting for it.
  void start();

  /// From now on, workers are forked from `from`, for these checks, as long as it can fork.
  void fork_from(PythonTemplate& from, std::vector<std::string> checks);

  /// For a process that no queue gives work: starts it where it does not run, and reads what has arrived. Returns true
  /// where it is ready.
  bool tend();

  /// Sends a command to a process that is ready and has no other work. `on_answer` receives the answer, in tend().
  /// Where the process ends before that, tend() throws SetupError.
  void request(const nlohmann::json& command, std::function<void(const nlohmann::json&)> on_answer);

  /// Sets a function that receives what each worker started from now on says when it is ready.
  void on_ready(std::function<void(const nlohmann::json& said)> hear) { on_ready_ = std::move(hear); }

  /// True while the worker can take work.
  bool is_ready() const { return state_ == State::ready; }

  /// Waits until the worker has answered its set-up, and returns what it said. Throws SetupError where it
  /// cannot start, and Interrupted.
  nlohmann::json await_ready();

  /// Takes jobs from these queues from now on, one queue after the other. `sharers` is the number of
  /// workers that take jobs from them.
  void work_on(std::vector<Queue*> queues, size_t sharers, Listener listener,
               OnPreparationFailed on_preparation_failed);

  bool finished();

  /// Sends jobs so that the worker stays busy. Starts a worker where there is work and none runs.
  void feed();

  /// The descriptors to poll for reading, and for writing where data waits to be sent; else -1.
  int answers() const;
  int commands() const { return child_ && child_->has_unsent() ? child_->commands() : -1; }

  /// Sends the data that waits.
  void send() { child_->flush(); }  // if the worker is gone, receive() notices

  /// Reads the answers that have arrived. Throws SetupError where the worker reports that its set-up is
  /// broken.
  void receive();

  /// Ends a worker that has not answered within its limit.
  void check_deadline();

  /// The call or preparation that the worker works on, for progress: its id, or nothing.
  std::string current() const;

  /// Tells the worker that no more commands come.
  void close();

  /// Lets the worker exit, and stops waiting for it.
  void dismiss();

 private:
  enum class State {
    stopped,   ///< no process: not started, or it ended
    starting,  ///< it has not answered its set-up
    ready,     ///< it takes work
    draining,  ///< it gets no more commands, and exits once it has carried out those that it has
  };

  bool start_forked();
  void begin_time_of(const Job& job);
  bool makes_progress(std::chrono::seconds limit);
  void take(const std::string& line, double seconds);
  bool answers_job(const nlohmann::json& message, const Job& job) const;
  void take_verdicts(const Job& job, const nlohmann::json& message, double seconds);
  void give(const Job& job, const Check& check, Judgement judgement);
  double keep_pace(size_t answers);
  void ask_where_it_is();
  std::string_view option_of_limit() const;
  void worker_is_gone(Verdict verdict, const std::string& how);
  void blame(Job job, const Judgement& lost);
  std::string kind() const { return std::string(to_string(program_.setup.worker)); }

  Program program_;
  std::vector<Queue*> queues_;
  Queue* queue_ = nullptr;  // the one of `queues_` that the jobs in flight are from
  size_t sharers_ = 1;
  PythonTemplate* template_ = nullptr;
  std::vector<std::string> checks_;  // for which the template is to import what they need
  std::function<void(const nlohmann::json&)> on_answer_;  // of request(), until the answer is there
  std::function<void(const nlohmann::json&)> on_ready_ = [](const nlohmann::json&) {};
  Listener listener_;
  OnPreparationFailed on_preparation_failed_;
  std::unique_ptr<Child> child_;
  State state_ = State::stopped;
  int killed_starts_ = 0;
  CrashStack stack_;   // what the worker has told of it while it died
  std::string doing_;  // what the worker says that it is doing
  nlohmann::json said_when_ready_;
  std::deque<Job> in_flight_;
  size_t window_;  // how many calls may be sent ahead of their answers
  std::chrono::steady_clock::time_point busy_since_;
  std::chrono::steady_clock::time_point deadline_;
  // Of the first job in flight: when it began, and how long the process had run on processors then and when it was last
  // looked at.
  std::chrono::steady_clock::time_point job_began_;
  std::chrono::nanoseconds cpu_at_begin_{};
  std::chrono::nanoseconds cpu_seen_{};
};

}  // namespace opgate
