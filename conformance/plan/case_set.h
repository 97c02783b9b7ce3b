// A set of cases of one plan, a bit each: what is still to do.
#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "plan/calls.h"
#include "plan/cut.h"

namespace opgate {

/// Points into the list of calls that it was made for.
class CaseSet {
 public:
  /// The cases of that part.
  CaseSet(const Calls& calls, const Cut& part);

  bool contains(Calls::Position call, const Check& check) const;

  /// Those of the call's checks that are in the set.
  CheckList of(Calls::Position call) const;

  /// Takes the case out. False where it was not in the set.
  bool remove(Calls::Position call, const Check& check);

  size_t size() const { return size_; }

  /// Calls with a case in the set for this kind of worker.
  size_t calls_with(Worker worker) const;

 private:
  std::optional<size_t> number(Calls::Position call, const Check& check) const;

  const Calls& calls_;
  std::vector<bool> cases_;
  size_t size_ = 0;
};

/// Where the cases of a plan are, by their ids.
class CallIndex {
 public:
  explicit CallIndex(const Calls& calls);

  /// None where no call of the plan has that id.
  std::optional<Calls::Position> find(std::string_view call_id) const;

 private:
  const Calls& calls_;
  std::unordered_multimap<size_t, Calls::Position>
      by_hash_;  // of the id: the ids themselves would fill memory
};

}  // namespace opgate
