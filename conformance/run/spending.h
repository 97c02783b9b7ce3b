// What workers spend their time on, by operator and device.
#pragma once

#include <map>
#include <utility>

#include "plan/costs.h"
#include "run/queue.h"

namespace opgate {

class Spending {
 public:
  /// Of the calls that have a case in `todo`.
  Spending(const Calls& calls, const CaseSet& todo);

  /// A worker has been at this for so long. The making of packages is shared equally by the operators in
  /// them.
  void add(const Job& job, double seconds);

  Costs costs() const;

 private:
  const Calls& calls_;
  std::map<std::pair<const Spec*, c10::DeviceType>, Cost> costs_;
};

}  // namespace opgate
