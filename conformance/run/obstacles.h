// What keeps the calls of a plan from being judged on this machine, for the process that hands them out.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "judging/obstacle.h"
#include "plan/calls.h"

namespace opgate {

class Obstacles {
 public:
  /// `calls` must outlive it.
  explicit Obstacles(const Calls& calls);

  /// The obstacle to the case, or none if it can be given to a worker.
  std::optional<Obstacle> to(Calls::Position call, const Check& check);

  /// The verdict on a case that is not judged for this reason.
  Judgement owed(Calls::Position call, const Check& check, std::string reason) const;

 private:
  const std::optional<Obstacle>& on_device(Calls::Position call);

  const Calls& calls_;
  std::set<c10::DeviceType> built_for_;  // accelerators for which some operator has a kernel of its own
  std::map<Calls::Position, Calls::Position> simulated_;
  // By operator and device.
  std::map<std::pair<const Spec*, std::string>, std::optional<Obstacle>> on_device_;
  std::optional<Calls::Position> last_;  // each call is asked for with all its checks, one after the other
  const std::optional<Obstacle>* on_last_ = nullptr;
};

}  // namespace opgate
