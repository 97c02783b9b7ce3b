// The calls that one kind of worker still has to run, handed out one by one to whichever worker asks. The
// queue reads calls from the plan as they are needed, so a queue of a million calls takes no more memory
// than one of ten.
#pragma once

#include <array>
#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>

#include "plan/case_set.h"
#include "run/run_listener.h"

namespace opgate {

/// One command to a worker: a call with the checks that judge it, or a preparation.
struct Job {
  /// The checks of one call during which a worker died; see run/blame.h.
  struct Suspects;

  std::optional<Calls::Position> call = {};  ///< none for a preparation
  CheckList checks = {};
  bool every_check = false;  ///< `checks` is all that the plan has for this call and kind of worker
  nlohmann::json preparation = {};
  std::shared_ptr<Suspects> suspects = {};  ///< set where the one check in `checks` is a suspect
  std::chrono::seconds limit{};             ///< a worker that does not answer for this long counts as hung
};

class Queue {
 public:
  /// Which cases the queue holds: those that need an AOTInductor package, which must wait until it is made;
  /// of the others, those of slow checks or of quick ones.
  enum class Part { all, quick, slow, packaged };

  /// Holds the cases of `todo` that this kind of worker judges. `simulated`: those on simulated devices, for
  /// which there are workers of their own; otherwise all others. `limit` applies to each call. `listener`
  /// receives the verdicts of calls that are given up, and must remove them from `todo`. `workers` is the
  /// number of workers that take jobs from this queue.
  Queue(Worker kind, bool simulated, const Calls& calls, const CaseSet& todo, std::chrono::seconds limit,
        size_t workers, RunListener& listener, Part part = Part::all);

  /// Preparations run in the order in which they are added, before every call.
  void add_preparation(nlohmann::json preparation, std::chrono::seconds limit);

  const Calls& calls() const { return calls_; }
  /// Whether cases of the check may be in the queue.
  bool takes(const Check& check) const;
  bool empty();
  std::optional<Job> next();

  /// An upper bound on the number of jobs that next() will still return.
  size_t left() const { return waiting_.size() + (calls_.size() - next_call_); }

  /// The next call of next() considers this job first.
  void put_back(Job job) { waiting_.push_front(std::move(job)); }

  /// Notes that a worker has died on this call. Where workers die eight times in a row, without an answer in
  /// between, on one variant of a sample in several dtypes, or in one dtype on several variants of a sample
  /// or on one variant of several samples, the rest of these calls on that device is given up; after sixteen
  /// deaths on a sample in several dtypes, the rest of the sample, and on several samples, the rest of the
  /// operator. `several` is more than there are workers. `reason` goes into the verdicts of what is given up.
  void died_on(Calls::Position call, const std::string& reason);

  /// Notes that a worker has answered this call.
  void answered(Calls::Position call);

 private:
  // Calls of one operator on one device that are given up together: those of a sample and a variant, of a
  // sample and a dtype, of a variant and a dtype, of a sample, or all of them.
  struct Group {
    const Spec* spec;
    std::string device;
    const Sample* sample = nullptr;
    std::string variant = {};
    std::optional<c10::ScalarType> dtype = {};

    auto operator<=>(const Group&) const = default;
    bool is_large() const { return variant.empty() && !dtype; }
  };
  struct Deaths {
    std::ptrdiff_t count = 0;
    std::set<std::string> parts;  // of the group: what its calls differ in
  };

  std::array<Group, 5> groups_of(const CallKey& key) const;
  static std::string part_of(const CallKey& key, const Group& group);
  std::string in_words(const Group& group) const;

  bool holds(Calls::Position call, const Check& check) const;
  bool advance();
  std::ptrdiff_t count(Calls::Position call) const;  // checks of the call that this queue is for
  CheckList checks_of(Calls::Position call) const;
  bool give_up_if_hopeless(const Job& job);

  Worker kind_;
  bool simulated_;
  const Calls& calls_;
  const CaseSet& todo_;
  std::chrono::seconds limit_;
  size_t workers_;
  RunListener& listener_;
  Part part_;
  std::deque<Job> waiting_;  // preparations, and what comes back from workers that died
  Calls::Position next_call_ = 0;
  std::map<Group, Deaths> deaths_;         // since the last answer of that group
  std::map<Group, std::string> given_up_;  // the reason for each
};

}  // namespace opgate
