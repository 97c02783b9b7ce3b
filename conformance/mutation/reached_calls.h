// Which calls of a plan run the code of which mutant.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "plan/case_set.h"

namespace opgate {

class ReachedCalls {
 public:
  /// Notes what a call has reached while this kind of worker judged it.
  void add(Calls::Position call, Worker kind, const std::vector<int>& mutants);

  /// The calls that reach the mutant in this kind of worker, in the order of the plan; none if no call does.
  const std::vector<Calls::Position>& of(int mutant, Worker kind) const;

 private:
  std::map<std::pair<int, Worker>, std::vector<Calls::Position>> calls_;
};

/// About `most` of these calls of a plan: all samples and all variants of an operator are among them, as far
/// as possible, and the calls of a variant are chosen evenly from its samples and dtypes.
std::vector<Calls::Position> spread(const Calls& plan, const std::vector<Calls::Position>& calls,
                                    size_t most);

}  // namespace opgate
