// Starts other programs and says how they ended.
#pragma once

#include <spawn.h>
#include <sys/types.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace opgate {

struct Command {
  std::vector<std::string> words;
  std::map<std::string, std::string> environment = {};  ///< added to this process's own
};

/// Starts the program with these files and attributes, and returns its process id. Throws SetupError if it
/// cannot be started.
pid_t spawn(const Command& command, const posix_spawn_file_actions_t& files,
            const posix_spawnattr_t& attributes);

/// Whether a status of waitpid() is that of a process that exited with 0.
bool has_succeeded(int status);

/// Describes a status of waitpid(): "SIGSEGV (Segmentation fault)", "exit status 1".
std::string ending(int status);

/// The same in short: "SIGSEGV", "exit status 1".
std::string ending_in_short(int status);

/// "SIGSEGV"
std::string signal_name(int number);

/// The last `count` lines of a log that are neither empty nor frames of a backtrace. Reading starts at the
/// byte `begin`; what comes before it was printed by earlier processes.
std::vector<std::string> last_lines(const std::filesystem::path& log, size_t count, std::streamoff begin = 0);

}  // namespace opgate
