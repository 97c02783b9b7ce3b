// Sums the time that workers spend, by operator and device.
#pragma once

#include <map>
#include <utility>

#include "plan/costs.h"
#include "run/work_queue.h"

namespace opgate {

class CostTracker {
 public:
  /// Tracks the calls that have a case in `todo`.
  CostTracker(const Calls& calls, const CaseSet& todo);

  /// Adds the seconds that a worker spent on the job. The time for making packages is divided equally among
  /// the operators in them.
  void add(const Job& job, double seconds);

  Costs costs() const;

 private:
  const Calls& calls_;
  std::map<std::pair<const Spec*, std::string>, Cost> costs_;
};

}  // namespace opgate
