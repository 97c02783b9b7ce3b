// Compares the speeds of two builds.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "gate/speed_pair.h"
#include "process/command.h"

namespace opgate {

/// Called with the name of a bench, and how many of how many benches have been timed before it.
using OnBench = std::function<void(const std::string& bench, size_t done, size_t all)>;

/// Times each bench that the base lists in two processes, base and head in turns. If the head looks slower
/// or faster than the base, the bench is timed once more in new processes. A bench that raises or ends a
/// process is returned as failed. `logs` is the folder for the output of the processes. `on_bench` is called
/// before each bench. Throws SetupError and Interrupted.
SpeedPairs compare_speeds(const Command& base, const Command& head, const std::filesystem::path& logs,
                          const OnBench& on_bench);

}  // namespace opgate
