#include "process/run_program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

#include "base/errors.h"
#include "base/files/descriptor.h"
#include "process/interrupt.h"

namespace opgate {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kExitPollInterval{10};

// Waits for the process to end and returns its status. If this process is interrupted, sends SIGTERM to the
// group once; after `limit`, kills the group.
int wait_for(pid_t pid, std::chrono::seconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  int status = 0;
  bool told = false;
  bool killed = false;
  while (waitpid(pid, &status, WNOHANG) == 0) {
    if (interrupted() && !std::exchange(told, true)) kill(-pid, SIGTERM);
    if (std::chrono::steady_clock::now() > deadline && !std::exchange(killed, true)) kill(-pid, SIGKILL);
    std::this_thread::sleep_for(kExitPollInterval);
  }
  return status;
}

}  // namespace

int run_to_end(const Command& command, const fs::path& folder, const fs::path& log, Errors errors,
               std::chrono::seconds limit) {
  watch_signals();
  std::error_code ignored;  // open() below reports what is wrong
  fs::create_directories(log.parent_path(), ignored);
  const Descriptor file(open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file.is_open()) {
    throw setup_error("cannot write {}: {}; give another folder with --output", log.string(),
                      std::strerror(errno));
  }
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, file.get(), STDOUT_FILENO);
  if (errors == Errors::logged) posix_spawn_file_actions_adddup2(&files, file.get(), STDERR_FILENO);
  if (posix_spawn_file_actions_addchdir_np(&files, folder.c_str()) != 0) {
    throw setup_error("cannot run '{}' in {}: this needs glibc 2.29 or newer", fmt::join(command.words, " "),
                      folder.string());
  }
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t pipe;  // SIGPIPE, which this process ignores and the program should not
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &pipe);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  const int status = wait_for(spawn(command, files, attributes), limit);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (interrupted()) throw Interrupted();
  return status;
}

int run_here(const Command& command) {
  std::fflush(stdout);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  const pid_t pid = spawn(command, files, attributes);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  struct sigaction before_int {
  }, before_term{};
  sigaction(SIGINT, &ignore, &before_int);
  sigaction(SIGTERM, &ignore, &before_term);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  sigaction(SIGINT, &before_int, nullptr);
  sigaction(SIGTERM, &before_term, nullptr);
  return status;
}

void become(const Command& command) {
  for (const auto& [name, value] : command.environment) setenv(name.c_str(), value.c_str(), /*overwrite=*/1);
  std::vector<char*> words;
  for (const std::string& word : command.words) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execvp(words.front(), words.data());
  throw setup_error("cannot run {}: {}; set OPGATE_PYTHON to a Python that has torch", command.words.front(),
                    std::strerror(errno));
}

std::optional<Ended> end_of(const Command& command, const fs::path& input) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return std::nullopt;
  const Descriptor read_end(ends[0]);
  Descriptor write_end(ends[1]);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, input.c_str(), O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&files, write_end.get(), STDOUT_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  pid_t pid = -1;
  try {
    pid = spawn(command, files, attributes);
  } catch (const SetupError&) {  // there is no such program
  }
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  write_end = Descriptor();
  if (pid < 0) return std::nullopt;
  Ended ended;
  ended.printed = content_until_end(read_end.get());
  while (waitpid(pid, &ended.status, 0) < 0 && errno == EINTR) {
  }
  return ended;
}

std::string output_of(const Command& command) {
  const std::optional<Ended> ended = end_of(command, "/dev/null");
  return ended && has_succeeded(ended->status) ? ended->printed : "";
}

}  // namespace opgate
