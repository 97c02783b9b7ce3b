// Another program, run to its end: a build, git, another OpGate.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "run/command.h"

namespace opgate {

/// Where what a program prints on stderr goes.
enum class Errors {
  shown,   ///< on this process's own stderr: its progress is seen
  logged,  ///< into the log, with what it prints on stdout
};

/// Runs the command in `folder`, in a process group of its own; what it prints on stdout goes into `log`,
/// which begins anew. Gives what waitpid() does. After `limit` its group is killed. Throws SetupError where
/// it cannot be started, and Interrupted where this process was: then its group was told as well, and it has
/// ended.
int run_to_end(const Command& command, const std::filesystem::path& folder, const std::filesystem::path& log,
               Errors errors, std::chrono::seconds limit = std::chrono::hours(24));

/// Runs the command as a shell would: with this process's own input and output, in its folder and process
/// group, so that Ctrl-C is for it as well; meanwhile this process ignores Ctrl-C. Gives what waitpid() does.
/// Throws SetupError where it cannot be started.
int run_here(const Command& command);

}  // namespace opgate
