// What one kind of worker has still to do, handed out call by call to whichever worker asks. The calls are
// read from the plan as they are needed: a queue of a million is as small as one of ten.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>

#include "plan/case_set.h"

namespace opgate {

/// One command to a worker: a call with the checks that judge it, or a preparation.
struct Job {
  /// Several checks of one call during which a worker died, each run again alone.
  struct Suspects {
    Verdict verdict;
    std::string reason;
    size_t unheard;  ///< checks without an answer yet
    bool found = false;
  };

  std::optional<Calls::Position> call = {};  ///< none for a preparation
  CheckList checks = {};
  bool every_check = false;  ///< that the plan has for this call and kind of worker
  nlohmann::json preparation = {};
  std::shared_ptr<Suspects> suspects = {};  ///< that this check is one of
  std::chrono::seconds limit{};             ///< without an answer for so long, the worker is taken to hang
};

class Queue {
 public:
  using OnVerdict = std::function<void(Calls::Position, const Check&, const Judgement&)>;
  /// Which cases of its kind it holds: those that look at a package must wait until it is made.
  enum class Packages { either, needed, not_needed };

  /// The cases of `todo` that this kind of worker judges; `limit` is for each call. `on_verdict` takes the
  /// verdicts of calls that are given up, and takes them out of `todo`. So many `workers` ask it.
  Queue(Worker kind, const Calls& calls, const CaseSet& todo, std::chrono::seconds limit, size_t workers,
        OnVerdict on_verdict, Packages packages = Packages::either);

  /// Comes after those that were added, and before every call.
  void add_preparation(nlohmann::json preparation, std::chrono::seconds limit);

  const Calls& calls() const { return calls_; }
  bool empty();
  std::optional<Job> next();

  /// No less than what next() will still give.
  size_t left() const { return waiting_.size() + (calls_.size() - next_call_); }

  /// It will be the next one.
  void put_back(Job job) { waiting_.push_front(std::move(job)); }

  /// A worker has died on this call. An operator on which workers die again and again, without an answer in
  /// between and on more calls than they were at, will not get better: the rest of it is given up, for this
  /// reason.
  void died_on(Calls::Position call, const std::string& reason);

  /// A worker has answered a call of this operator.
  void answered(const Spec& subject);

 private:
  struct Deaths {
    std::ptrdiff_t count = 0;
    std::set<Calls::Position> calls;
  };

  bool holds(Calls::Position call, const Check& check) const;
  bool advance();
  std::ptrdiff_t count(Calls::Position call) const;  // its checks for this kind of worker
  CheckList checks_of(Calls::Position call) const;
  bool give_up_if_hopeless(const Job& job);

  Worker kind_;
  const Calls& calls_;
  const CaseSet& todo_;
  std::chrono::seconds limit_;
  size_t workers_;
  OnVerdict on_verdict_;
  Packages packages_;
  std::deque<Job> waiting_;  // preparations, and what comes back from workers that died
  Calls::Position next_call_ = 0;
  std::map<const Spec*, Deaths> deaths_;         // since the last answer
  std::map<const Spec*, std::string> given_up_;  // and why
};

}  // namespace opgate
