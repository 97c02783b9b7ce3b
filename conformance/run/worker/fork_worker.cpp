#include "run/worker/fork_worker.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <stdexcept>
#include <string>
#include <thread>

#include "base/files/descriptor.h"
#include "process/child_process.h"

namespace opgate {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

json cannot_fork(const std::string& why) { return {{"cannot_fork", why}}; }

std::string last_error() { return std::strerror(errno); }

// Locks that another thread holds at the fork stay locked in the new process.
std::ptrdiff_t further_threads() {
  return std::distance(fs::directory_iterator("/proc/self/task"), fs::directory_iterator()) - 1;
}

void take_file(const std::string& file, int flags, std::initializer_list<int> places) {
  const Descriptor opened(open(file.c_str(), flags | O_CLOEXEC, 0644));
  for (const int place : places) {
    if (!opened.is_open() || dup2(opened.get(), place) < 0)
      throw std::runtime_error(fmt::format("{}: {}", file, last_error()));
  }
}

// In the new process: takes its files, and returns the answer for the supervisor, which closes its own
// ends of the pipes once it has that answer.
json begin_worker(const json& request) {
  try {
    take_file(request.at("commands"), O_RDONLY, {STDIN_FILENO});
    take_file(request.at("answers"), O_WRONLY, {kAnswerDescriptor});
    take_file(request.at("log"), O_WRONLY | O_APPEND | O_CREAT, {STDOUT_FILENO, STDERR_FILENO});
  } catch (const std::runtime_error& error) {
    return cannot_fork(error.what());
  }
  return {{"forked", getpid()}};
}

// The process between the template and the worker ends, so that the supervisor adopts the worker.
void await_supervisor(pid_t between) {
  while (getppid() == between) std::this_thread::sleep_for(std::chrono::microseconds(50));
  end_with_parent();
}

}  // namespace

std::optional<json> fork_worker(const json& request) {
  if (const auto threads = further_threads(); threads > 0)
    return cannot_fork(fmt::format("{} more threads run", threads));
  end_of_printed();  // so that the new process does not print it again
  std::array<int, 2> pipe{};
  if (pipe2(pipe.data(), O_CLOEXEC) != 0) return cannot_fork(last_error());
  const Descriptor told(pipe[0]);
  Descriptor tell(pipe[1]);
  const pid_t between = fork();
  if (between == 0) {
    const pid_t parent = getpid();
    if (fork() != 0) _exit(0);
    await_supervisor(parent);
    setpgid(0, 0);
    const json said = begin_worker(request);
    const std::string text = said.dump(-1, ' ', false, json::error_handler_t::replace);
    if (write(tell.get(), text.data(), text.size()) < 0 || !said.contains("forked")) _exit(1);
    return std::nullopt;
  }
  if (between < 0) return cannot_fork(last_error());
  waitpid(between, nullptr, 0);
  tell.reset();
  const json said = json::parse(content_until_end(told.get()), nullptr, /*allow_exceptions=*/false);
  return said.is_object() ? said : cannot_fork("the new process ended");
}

}  // namespace opgate
