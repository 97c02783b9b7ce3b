// What keeps calls from running on a device of this machine.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include "plan/calls.h"

namespace opgate {

struct Obstacle {
  std::string reason;          ///< empty where the calls can run
  bool known_kernels = false;  ///< whether checks that make no call can be judged all the same
};

class Obstacles {
 public:
  /// `calls` must outlive it.
  explicit Obstacles(const Calls& calls);

  /// Of a call: the same for all calls of an operator on a device.
  const Obstacle& of(Calls::Position call);

 private:
  const Calls& calls_;
  std::set<c10::DeviceType> built_for_;  // accelerators for which some operator has a kernel of its own
  std::map<std::pair<const Spec*, std::string>, Obstacle> known_;
};

}  // namespace opgate
