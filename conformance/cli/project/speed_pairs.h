// Compares the speeds of two builds.
#pragma once

#include <filesystem>

#include "gate/speed_pair.h"
#include "process/command.h"

namespace opgate {

/// Times each bench that the base lists in two processes, base and head in turns. If the head looks slower
/// or faster than the base, the bench is timed once more in new processes. A bench that raises or ends a
/// process is returned as failed. `logs` is the folder for the output of the processes. Shows progress on
/// stderr. Throws SetupError and Interrupted.
SpeedPairs compare_speeds(const Command& base, const Command& head, const std::filesystem::path& logs);

}  // namespace opgate
