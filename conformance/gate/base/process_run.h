// `opgate run` in a process of its own, for the gate: of a base, or with other samples.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "process/command.h"

namespace opgate {

/// Receives a line for the user about work that takes long, when it begins.
using Announce = std::function<void(const std::string& text)>;

/// Runs the command, an `opgate run` whose output folder is `output`, and returns the file with its results.
/// Broken promises and specs are left for the gate to compare. Throws SetupError if the run does not finish,
/// which begins with `what_failed` ("the head cannot be run"), and Interrupted.
std::filesystem::path results_of_process(const Command& run, const std::filesystem::path& output,
                                         const std::string& what_failed);

}  // namespace opgate
