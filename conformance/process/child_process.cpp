#include "process/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <thread>

#include "base/errors.h"

namespace opgate {
namespace {

constexpr std::chrono::milliseconds kPollInterval{5};
constexpr std::chrono::seconds kChildShutdownTimeout{10};

}  // namespace

ChildPipes::ChildPipes() {
  std::array<int, 2> in{};
  std::array<int, 2> out{};
  if (pipe2(in.data(), O_CLOEXEC) != 0 || pipe2(out.data(), O_CLOEXEC) != 0) {
    throw setup_error("cannot start a worker: {}", std::strerror(errno));
  }
  commands.reset(in[1]);
  answers.reset(out[0]);
  child_commands.reset(in[0]);
  child_answers.reset(out[1]);
  // Only this end is non-blocking: the process at the other end waits for lines.
  fcntl(commands.get(), F_SETFL, O_NONBLOCK);
}

void adopt_orphans() { prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

std::streamoff size_of_log(const std::filesystem::path& log) {
  std::error_code none_yet;
  const auto size = std::filesystem::file_size(log, none_yet);
  return none_yet ? 0 : static_cast<std::streamoff>(size);
}

Child::Child(pid_t pid, ChildPipes pipes, std::filesystem::path log, std::streamoff log_begin)
    : log_(std::move(log)),
      log_begin_(log_begin),
      pid_(pid),
      commands_(std::move(pipes.commands)),
      answers_(std::move(pipes.answers)) {}

Child::Child(const Command& command, const std::filesystem::path& log)
    : log_(log), log_begin_(size_of_log(log)) {
  ChildPipes pipes;
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, pipes.child_commands.get(), STDIN_FILENO);
  // If the pipe already had this number, dup2 would change nothing and close-on-exec would stay set. Its
  // descriptor is therefore moved to a higher number first.
  const Descriptor answer_end(fcntl(pipes.child_answers.get(), F_DUPFD_CLOEXEC, kAnswerDescriptor + 1));
  posix_spawn_file_actions_adddup2(&files, answer_end.get(), kAnswerDescriptor);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
  posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);

  pid_ = spawn(command, files, attributes);
  commands_ = std::move(pipes.commands);
  answers_ = std::move(pipes.answers);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
}

void answer_line(std::string line) {
  line += '\n';
  size_t sent = 0;
  while (sent < line.size()) {
    const ssize_t count = write(kAnswerDescriptor, line.data() + sent, line.size() - sent);
    if (count < 0 && errno == EINTR) continue;  // such as by a timer that the operator has set
    if (count < 0) _exit(1);
    sent += static_cast<size_t>(count);
  }
}

std::streamoff end_of_printed() {
  std::fflush(stdout);
  return lseek(STDOUT_FILENO, 0, SEEK_CUR);
}

void end_with_parent() { prctl(PR_SET_PDEATHSIG, SIGKILL); }

Child::~Child() { end(); }

bool Child::send(std::string_view line) {
  if (!commands_.is_open()) return false;
  unsent_ += line;
  unsent_ += '\n';
  return flush();
}

bool Child::flush() {
  size_t sent = 0;
  bool reads = commands_.is_open();
  while (reads && sent < unsent_.size()) {
    const ssize_t count = write(commands_.get(), unsent_.data() + sent, unsent_.size() - sent);
    if (count >= 0) {
      sent += static_cast<size_t>(count);
    } else if (errno == EAGAIN) {
      break;
    } else {
      reads = errno == EINTR;
    }
  }
  unsent_.erase(0, reads ? sent : unsent_.size());
  return reads;
}

bool Child::receive(std::vector<std::string>& lines) {
  std::array<char, 1 << 16> buffer;
  const ssize_t count = read(answers_.get(), buffer.data(), buffer.size());
  if (count < 0) return errno == EINTR;
  if (count == 0) return false;
  partial_.append(buffer.data(), static_cast<size_t>(count));
  size_t begin = 0;
  for (size_t end = partial_.find('\n'); end != std::string::npos; end = partial_.find('\n', begin)) {
    lines.push_back(partial_.substr(begin, end - begin));
    begin = end + 1;
  }
  partial_.erase(0, begin);
  return true;
}

std::chrono::nanoseconds Child::cpu_time() const {
  clockid_t clock{};
  timespec time{};
  if (clock_getcpuclockid(pid_, &clock) != 0 || clock_gettime(clock, &time) != 0) return {};
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

void Child::abort() {
  if (pid_ > 0) kill(pid_, SIGABRT);
}

int Child::end(std::chrono::milliseconds grace) {
  if (pid_ < 0) return 0;
  int status = 0;
  const auto deadline = std::chrono::steady_clock::now() + grace;
  pid_t left = waitpid(pid_, &status, WNOHANG);
  while (left == 0 && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(kPollInterval);
    left = waitpid(pid_, &status, WNOHANG);
  }
  kill(-pid_, SIGKILL);
  if (left == 0) waitpid(pid_, &status, 0);
  pid_ = -1;
  commands_.reset();
  return status;
}

void Child::dismiss() {
  commands_.reset();
  answers_.reset();  // what it still writes is not waited for: the pipe could be full, and the process stuck
  end(kChildShutdownTimeout);  // also ends compilers and process pools that it may have left behind
}

std::vector<std::string> Child::last_printed(size_t count) const {
  return last_lines(log_, count, log_begin_);
}

}  // namespace opgate
