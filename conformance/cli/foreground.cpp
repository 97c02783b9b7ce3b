#include "cli/foreground.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <opgate/error.h>
#include <signal.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/descriptor.h"
#include "run/interrupt.h"

namespace opgate {
namespace {

namespace fs = std::filesystem;

// Tells the process once that this one was interrupted: a signal for this one alone does not reach it.
int wait_for(pid_t pid) {
  int status = 0;
  bool told = false;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    if (interrupted() && !std::exchange(told, true)) kill(pid, SIGTERM);
  }
  return status;
}

}  // namespace

int run_to_end(const Command& command, const fs::path& folder, const fs::path& log, Errors errors) {
  watch_signals();
  std::error_code ignored;  // open() says what is wrong
  fs::create_directories(log.parent_path(), ignored);
  const Descriptor file(open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file.is_open()) {
    throw SetupError(fmt::format("cannot write {}: {}; give another folder with --output", log.string(),
                                 std::strerror(errno)));
  }
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, file.get(), STDOUT_FILENO);
  if (errors == Errors::logged) posix_spawn_file_actions_adddup2(&files, file.get(), STDERR_FILENO);
  posix_spawn_file_actions_addchdir_np(&files, folder.c_str());
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t pipe;  // which this process ignores
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &pipe);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  const int status = wait_for(spawn(command, files, attributes));
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (interrupted()) throw Interrupted();
  return status;
}

}  // namespace opgate
