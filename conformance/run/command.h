// What is needed to start another program.
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
  std::map<std::string, std::string> environment;  ///< added to this process's own
};

/// Starts it with these files and attributes. Throws SetupError where it cannot be started.
pid_t spawn(const Command& command, const posix_spawn_file_actions_t& files,
            const posix_spawnattr_t& attributes);

/// "SIGSEGV (Segmentation fault)", "exit status 1": from what waitpid() gives.
std::string ending(int status);

/// The last `count` lines of a log that are neither empty nor frames of a backtrace; what lies before `begin`
/// was printed by others.
std::vector<std::string> last_lines(const std::filesystem::path& log, size_t count, std::streamoff begin = 0);

}  // namespace opgate
