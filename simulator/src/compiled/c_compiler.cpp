#include "compiled/c_compiler.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <utility>

#include "environment/setting.h"

extern char** environ;

namespace opgate::simulator {
namespace c_compiler {

constexpr std::size_t kMostOutput = 1 << 16;

// Both ends of a pipe, which no other process inherits.
struct Pipe {
  Pipe() {
    if (pipe2(ends, O_CLOEXEC) != 0) ends[0] = ends[1] = -1;
  }
  ~Pipe() {
    for (const int end : ends) {
      if (end >= 0) close(end);
    }
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void close_write() { close(std::exchange(ends[1], -1)); }
  int ends[2];
};

std::string read_all(int from) {
  std::string text;
  std::array<char, 4096> part{};
  for (;;) {
    const ssize_t count = read(from, part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    if (text.size() < kMostOutput) text.append(part.data(), static_cast<std::size_t>(count));
  }
}

// True if the program ends with 0. Its output, also of errors, is in `output`.
bool run(const std::vector<std::string>& arguments, std::string& output) {
  Pipe pipe;
  if (pipe.ends[0] < 0) return false;
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  // What is preloaded into this process, as a simulated runtime may be, is not for the compiler.
  std::vector<char*> environment;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (!std::string_view(*variable).starts_with("LD_PRELOAD=")) environment.push_back(*variable);
  }
  environment.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, pipe.ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, pipe.ends[1], STDERR_FILENO);
  pid_t child = 0;
  const int failed = posix_spawnp(&child, argv.front(), &actions, nullptr, argv.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return false;
  pipe.close_write();
  output = read_all(pipe.ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return false;
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// With -O2, GCC takes minutes for a larger source.
constexpr std::uintmax_t kMostForAllOptimizations = std::uintmax_t{1} << 20;

// Exceptions of the interpreter pass through compiled code. Code that loads through a pointer of one type
// what was stored as another one is normal here. With -fno-trapping-math, GCC would lose the sign of a zero
// that was converted to an integer and back.
std::vector<std::string> options() {
  std::vector<std::string> options{"-std=gnu11",
                                   "-O2",
                                   "-w",
                                   "-fPIC",
                                   "-shared",
                                   "-nostdlib",
                                   "-fexceptions",
                                   "-fno-math-errno",
                                   "-ffp-contract=off",
                                   "-fno-strict-aliasing"};
#if defined(__x86_64__)
  // Without it, each fma and rounding to an integer would be a call.
  if (__builtin_cpu_supports("fma")) options.emplace_back("-mfma");
#endif
  return options;
}

}  // namespace c_compiler

CCompiler::CCompiler(std::string program, std::string version)
    : program_(std::move(program)), options_(c_compiler::options()) {
  identity_ = program_ + "\n" + version + "\n";
  for (const std::string& option : options_) identity_ += option + "\n";
}

std::optional<CCompiler> CCompiler::find(const std::string& given) {
  std::vector<std::string> candidates{given};
  if (given.empty()) {
    candidates = {"cc", "gcc", "clang"};
    if (const std::string named = value_of(Setting::cc); !named.empty()) candidates = {named};
  }
  for (const std::string& candidate : candidates) {
    std::string version;
    if (c_compiler::run({candidate, "--version"}, version)) return CCompiler(candidate, version);
  }
  return std::nullopt;
}

bool CCompiler::compile(const std::string& source, const std::string& object, std::string& why) const {
  std::vector<std::string> arguments{program_};
  arguments.insert(arguments.end(), options_.begin(), options_.end());
  std::error_code unknown;
  const std::uintmax_t bytes = std::filesystem::file_size(source, unknown);
  if (!unknown && bytes > c_compiler::kMostForAllOptimizations) arguments.emplace_back("-O1");
  arguments.insert(arguments.end(), {"-o", object, source});
  return c_compiler::run(arguments, why);
}

}  // namespace opgate::simulator
