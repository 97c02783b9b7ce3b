// A set of cases of one plan, one bit each: the cases that are still to be judged.
#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "plan/calls.h"
#include "plan/shard_assignment.h"

namespace opgate {

/// Points into the list of calls that it was made for.
class CaseSet {
 public:
  /// The cases of the calls that `part` holds.
  CaseSet(const Calls& calls, const ShardAssignment& part);
  /// Without any case.
  explicit CaseSet(const Calls& calls) : calls_(calls), cases_(calls.cases()) {}

  bool contains(Calls::Position call, const Check& check) const;

  /// The checks of the call whose cases are in the set.
  CheckList of(Calls::Position call) const;

  /// Adds a case of the calls.
  void add(Calls::Position call, const Check& check);

  /// Removes the case. Returns false if it was not in the set.
  bool remove(Calls::Position call, const Check& check);

  size_t size() const { return size_; }

  /// The number of calls with a case in the set for this kind of worker, on simulated devices or on others.
  size_t calls_with(Worker worker, bool simulated) const;

 private:
  std::optional<size_t> number(Calls::Position call, const Check& check) const;

  const Calls& calls_;
  std::vector<bool> cases_;
  size_t size_ = 0;
};

/// Finds the calls of a plan by their ids.
class CallIndex {
 public:
  explicit CallIndex(const Calls& calls);

  /// None if no call of the plan has that id.
  std::optional<Calls::Position> find(std::string_view call_id) const;

 private:
  const Calls& calls_;
  // By a hash of the id, because the ids themselves would take too much memory.
  std::unordered_multimap<size_t, Calls::Position> by_hash_;
};

}  // namespace opgate
