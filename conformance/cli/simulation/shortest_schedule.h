// From a schedule that shows a finding to the shortest one that still does.
#pragma once

#include <functional>
#include <optional>

#include <opgate_sim/finding.h>
#include <opgate_sim/schedule.h>

namespace opgate {

/// Runs the program with the schedule. Whether it shows the finding; false if there is no time for it.
using Shows = std::function<bool(const simulator::LaunchSchedule&)>;

/// A part of `seen` that shows the finding. No block and no warp of it can be left out, unless time ran
/// short. None if not even all of `seen` shows it.
std::optional<simulator::LaunchSchedule> shortest_schedule(const simulator::LaunchSchedule& seen,
                                                           const simulator::Finding& finding,
                                                           const Shows& shows);

}  // namespace opgate
