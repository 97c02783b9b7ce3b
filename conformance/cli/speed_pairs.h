// Speeds of two builds, beside each other.
#pragma once

#include <filesystem>

#include "gate/speed_pair.h"
#include "run/command.h"

namespace opgate {

/// Times each bench that the base lists, each in a process of its own and the two in turns; where the
/// head looks slower or faster than the base, once more in new processes. One that raises or ends a process
/// is given as failed. Shows progress on stderr. Throws SetupError and Interrupted.
SpeedPairs compare_speeds(const Command& base, const Command& head, const std::filesystem::path& logs);

}  // namespace opgate
