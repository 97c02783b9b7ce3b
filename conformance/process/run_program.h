// Runs another program to its end: a build, git, another OpGate.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

#include "process/command.h"

namespace opgate {

/// Where a program's stderr goes.
enum class Errors {
  shown,   ///< to this process's own stderr, so that its progress is visible
  logged,  ///< to the log, together with its stdout
};

/// Runs the command in `folder`, in a process group of its own, and writes its stdout to `log`, which is
/// truncated first. Returns the status of waitpid(). Kills the process group after `limit`. Throws
/// SetupError if the command cannot be started, and Interrupted if this process was interrupted; the group
/// is then sent SIGTERM, and the command has ended.
int run_to_end(const Command& command, const std::filesystem::path& folder, const std::filesystem::path& log,
               Errors errors, std::chrono::seconds limit = std::chrono::hours(24));

/// Runs the command as a shell would: with this process's own input and output, in its working directory
/// and process group, so that Ctrl-C reaches the command. Meanwhile this process ignores SIGINT and
/// SIGTERM. Returns the status of waitpid(). Throws SetupError if the command cannot be started.
int run_here(const Command& command);

/// Replaces this process by the command, so that signals reach it. Throws SetupError if it cannot be started.
[[noreturn]] void become(const Command& command);

struct Ended {
  int status = 0;       ///< of waitpid()
  std::string printed;  ///< what the program wrote to stdout
};

/// Runs the command to its end, with the file `input` as its stdin and without its stderr. None if it cannot
/// be started.
std::optional<Ended> end_of(const Command& command, const std::filesystem::path& input);

/// Runs the command to its end, and returns what it wrote to stdout. Its stderr is dropped, and it has no
/// input. Empty where the command cannot be started, or ends otherwise than with 0.
std::string output_of(const Command& command);

}  // namespace opgate
