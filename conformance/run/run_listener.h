// What happens while a plan runs, from the worker that answers to whatever takes part in the run: the
// journal, the tally, the progress that is shown.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "plan/calls.h"

namespace opgate {

struct CallFacts;
struct Job;
struct Judgement;

/// A case and its verdict, as it comes.
struct JudgedCase {
  const Calls& calls;
  Calls::Position call;
  const Check& check;
  const Judgement& judgement;

  std::string id() const { return calls.id(call) + "/" + check.name; }
};

class RunListener {
 public:
  virtual ~RunListener() = default;

  virtual void on_verdict(const JudgedCase& judged) = 0;
  /// What the call has returned.
  virtual void on_facts(const std::string& /*call_id*/, const CallFacts& /*facts*/) {}
  /// The mutants whose code the call has reached, if the worker was started to report them.
  virtual void on_reached(Calls::Position /*call*/, Worker /*kind*/, const std::vector<int>& /*mutants*/) {}
  /// Triton does not compile the mutant that the worker runs, for this reason; before the verdicts.
  virtual void on_refused(const std::string& /*why*/) {}
  /// The worker spent this many seconds on the job.
  virtual void on_time(const Job& /*job*/, double /*seconds*/) {}
  /// Comes about every 50 ms, with the call or preparation that each busy worker works on.
  virtual void on_progress(const std::vector<std::string>& /*current*/) {}
  /// Whether the run is to end early, with what has been judged so far.
  virtual bool is_stopped() const { return false; }
};

/// Takes the verdicts alone.
class VerdictListener : public RunListener {
 public:
  explicit VerdictListener(std::function<void(const JudgedCase&)> take) : take_(std::move(take)) {}

  void on_verdict(const JudgedCase& judged) override { take_(judged); }

 private:
  std::function<void(const JudgedCase&)> take_;
};

/// Passes each event to several listeners, in this order. The run ends early if one of them stops it.
class RunListeners : public RunListener {
 public:
  explicit RunListeners(std::vector<RunListener*> all) : all_(std::move(all)) {}

  void on_verdict(const JudgedCase& judged) override {
    for (RunListener* each : all_) each->on_verdict(judged);
  }
  void on_facts(const std::string& call_id, const CallFacts& facts) override {
    for (RunListener* each : all_) each->on_facts(call_id, facts);
  }
  void on_reached(Calls::Position call, Worker kind, const std::vector<int>& mutants) override {
    for (RunListener* each : all_) each->on_reached(call, kind, mutants);
  }
  void on_refused(const std::string& why) override {
    for (RunListener* each : all_) each->on_refused(why);
  }
  void on_time(const Job& job, double seconds) override {
    for (RunListener* each : all_) each->on_time(job, seconds);
  }
  void on_progress(const std::vector<std::string>& current) override {
    for (RunListener* each : all_) each->on_progress(current);
  }
  bool is_stopped() const override {
    return std::ranges::any_of(all_, [](const RunListener* each) { return each->is_stopped(); });
  }

 private:
  std::vector<RunListener*> all_;
};

}  // namespace opgate
