// Which calls of a plan a shard has. Every machine finds the same without a word to the others.
#pragma once

#include <vector>

#include "plan/costs.h"
#include "plan/shard.h"

namespace opgate {

class Cut {
 public:
  /// Every count-th call: neighbours in the plan cost alike, so the parts do, too.
  Cut(const Shard& shard = {}) : shard_(shard) {}  // NOLINT: a shard is a cut

  /// Parts that cost alike, by what the calls of each operator and device cost on average; those that
  /// `costs` does not know cost what all do. Runs of neighbours stay together, because they share what is
  /// made for them: packages, values.
  Cut(const Shard& shard, const Calls& calls, const Costs& costs);

  bool holds(Calls::Position call) const { return calls_.empty() ? shard_.holds(call) : calls_[call]; }

 private:
  Shard shard_;
  std::vector<bool> calls_;  // empty: by position
};

}  // namespace opgate
