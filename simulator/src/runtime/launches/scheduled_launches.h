// Launches that follow a part of OPGATE_SIM_SCHEDULE, and the schedule that a launch with a seed has had.
#pragma once

#include <string>

#include <opgate_sim/finding.h>
#include "machine/launches/launch.h"

namespace opgate::simulator {

/// There is a schedule: the launch, which has its number, goes by index, but for what the schedule names. If
/// it names a block or a warp that the launch does not have, the process ends, as with wrong settings.
void follow_schedule(Launch& launch);

/// The process ends: reports the parts of the schedule that were for none of its launches. If there is a
/// report of findings, its reader knows of the other processes, too.
void report_what_no_launch_followed();

/// What of the order of a launch with a seed may matter for the finding, as the text of a schedule: the
/// blocks up to those of the finding, and the warps of these. Empty if they began by index.
std::string schedule_of(const Launch& launch, const Outcome& outcome, const Finding& finding);

}  // namespace opgate::simulator
