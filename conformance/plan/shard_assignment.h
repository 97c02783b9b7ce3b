// Which calls of a plan a shard has. Every machine computes the same assignment without communication.
#pragma once

#include <vector>

#include "plan/costs.h"
#include "plan/shard.h"

namespace opgate {

class ShardAssignment {
 public:
  /// Gives the shard every count-th call: neighbours in the plan cost alike, and so the shards do, too.
  ShardAssignment(const Shard& shard = {}) : shard_(shard) {}  // NOLINT: a shard is a cut

  /// Makes shards of about equal cost, from the mean cost per call of each operator and device; a call of
  /// an operator and device that `costs` lacks counts as the mean over all calls. Neighbouring calls stay
  /// together in runs, because they share packages and values.
  ShardAssignment(const Shard& shard, const Calls& calls, const Costs& costs);

  bool holds(Calls::Position call) const { return calls_.empty() ? shard_.holds(call) : calls_[call]; }

 private:
  Shard shard_;
  std::vector<bool> calls_;  // empty: every count-th call
};

}  // namespace opgate
