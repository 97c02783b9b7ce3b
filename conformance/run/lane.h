// One worker: starts it, feeds it from a queue, reads its answers, and when it dies or hangs blames the case
// it was at, starts another and goes on.
#pragma once

#include <chrono>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "checks/facts.h"
#include "run/child.h"
#include "run/protocol.h"
#include "run/queue.h"

namespace opgate {

class Lane {
 public:
  /// Takes what the workers say.
  struct Listener {
    Queue::OnVerdict verdict;
    std::function<void(Calls::Position, const CallFacts&)> facts = [](Calls::Position, const CallFacts&) {};
    /// The worker was at this for so many seconds.
    std::function<void(const Job&, double)> took = [](const Job&, double) {};
  };
  using OnPreparationFailed =
      std::function<void(const nlohmann::json& preparation, const std::string& reason)>;

  struct Program {
    Command command;
    std::filesystem::path log;
    Setup setup;
  };

  explicit Lane(Program program) : program_(std::move(program)) {}

  /// Starts the worker without waiting for it.
  void start();

  /// Called with what each worker that is started from now on says when it is ready.
  void on_ready(std::function<void(const nlohmann::json& said)> hear) { on_ready_ = std::move(hear); }

  /// Waits until the worker has answered its set-up, and returns what it said. Throws SetupError.
  nlohmann::json await_ready();

  /// From now on takes its work from these queues, from one after the other; it may share each with other
  /// lanes of its kind.
  void work_on(std::vector<Queue*> queues, size_t sharers, Listener listener,
               OnPreparationFailed on_preparation_failed);

  bool finished();

  /// Keeps the worker supplied. Starts one where there is work and none runs.
  void feed();

  /// The descriptors to poll for reading, and for writing where something waits to be sent; else -1.
  int answers() const { return child_ ? child_->answers() : -1; }
  int commands() const { return child_ && child_->has_unsent() ? child_->commands() : -1; }

  /// Sends what waits.
  void send() { child_->flush(); }  // where nobody reads any more, the answers end as well

  /// Takes what has arrived. Throws SetupError where the worker cannot work at all.
  void receive();

  /// Ends a worker whose time is up.
  void check_deadline();

  /// The call or preparation at hand, for progress: its id, or nothing.
  std::string current() const;

  /// Tells the worker that its queue is done.
  void close();

  /// Lets it leave.
  void dismiss();

 private:
  void take(const std::string& line, double seconds);
  void take_verdicts(const Job& job, const nlohmann::json& message, double seconds);
  void give(const Job& job, const Check& check, Judgement judgement);
  double keep_pace(size_t answers);
  std::string_view option_of_limit() const;
  void worker_is_gone(Verdict verdict, const std::string& how);
  void blame(Job job, Verdict verdict, const std::string& reason);
  std::string kind() const { return std::string(to_string(program_.setup.worker)); }

  Program program_;
  std::vector<Queue*> queues_;
  Queue* queue_ = nullptr;  // that of `queues_` which the calls at hand are from
  size_t sharers_ = 1;
  std::function<void(const nlohmann::json&)> on_ready_ = [](const nlohmann::json&) {};
  Listener listener_;
  OnPreparationFailed on_preparation_failed_;
  std::unique_ptr<Child> child_;
  bool ready_ = false;
  int killed_starts_ = 0;
  nlohmann::json said_when_ready_;
  std::deque<Job> in_flight_;
  size_t window_;  // calls that it may be given ahead of its answers
  std::chrono::steady_clock::time_point busy_since_;
  std::chrono::steady_clock::time_point deadline_;
};

}  // namespace opgate
