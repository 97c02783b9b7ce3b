// One worker and its queue: starts it, feeds it, reads its answers, and when it dies or hangs blames the case
// it was at, starts another and goes on.
#pragma once

#include <chrono>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "run/child.h"
#include "run/protocol.h"

namespace opgate {

/// One command to a worker: a call with the checks that judge it, or a preparation (`call` is null).
struct Job {
  /// Several checks of one call during which a worker died, each run again alone.
  struct Suspects {
    Verdict verdict;
    std::string reason;
    size_t unheard;  ///< checks without an answer yet
    bool found = false;
  };

  const PlannedCall* call = nullptr;
  std::vector<const Check*> checks;
  nlohmann::json preparation;
  std::shared_ptr<Suspects> suspects;  ///< that this check is one of
  std::chrono::seconds limit{};        ///< without an answer for so long, the worker is taken to hang
};

class Lane {
 public:
  using OnVerdict = std::function<void(const PlannedCall&, const Check&, const Judgement&)>;
  using OnPreparationFailed =
      std::function<void(const nlohmann::json& preparation, const std::string& reason)>;

  struct Program {
    Command command;
    std::filesystem::path log;
    nlohmann::json setup;
  };

  Lane(Worker kind, Program program, OnVerdict on_verdict, OnPreparationFailed on_preparation_failed);

  Worker kind() const { return kind_; }
  void add(Job job) { pending_.push_back(std::move(job)); }
  bool finished() const { return pending_.empty() && in_flight_.empty(); }

  /// Starts the worker without waiting for it.
  void start();

  /// Waits until the worker has answered its set-up, and returns what it said. Throws SetupError.
  nlohmann::json await_ready();

  /// Keeps the worker supplied. Starts one where there is work and none runs.
  void feed();

  /// The descriptor to poll; -1 while no worker runs.
  int descriptor() const { return child_ ? child_->answers() : -1; }

  /// Takes what has arrived. Throws SetupError where the worker cannot work at all.
  void receive();

  /// Ends a worker whose time is up.
  void check_deadline();

  /// The call or preparation at hand, for progress: its id, or nothing.
  std::string current() const;

  /// Lets the worker leave (its queue is done).
  void dismiss();

 private:
  void take(const std::string& line);
  void worker_is_gone(Verdict verdict, const std::string& how);
  void blame(Job job, Verdict verdict, const std::string& reason);
  void give_up(const Spec& subject, const std::string& reason);
  void restart_clock();

  Worker kind_;
  Program program_;
  OnVerdict on_verdict_;
  OnPreparationFailed on_preparation_failed_;
  std::unique_ptr<Child> child_;
  bool ready_ = false;
  int deaths_in_a_row_ = 0;
  const Spec* died_on_ = nullptr;
  nlohmann::json said_when_ready_;
  std::deque<Job> pending_;
  std::deque<Job> in_flight_;
  std::chrono::steady_clock::time_point deadline_;
};

}  // namespace opgate
