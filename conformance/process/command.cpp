#include "process/command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <deque>
#include <fstream>
#include <sstream>

#include "base/errors.h"

extern char** environ;

namespace opgate {
namespace {

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> list;
  for (std::string& word : words) list.push_back(word.data());
  list.push_back(nullptr);
  return list;
}

std::vector<std::string> environment_with(const std::map<std::string, std::string>& added) {
  std::vector<std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    if (!added.contains(std::string(text.substr(0, text.find('='))))) variables.emplace_back(text);
  }
  for (const auto& [name, value] : added) variables.push_back(name + "=" + value);
  return variables;
}

// As the command's own PATH has it, which posix_spawnp() does not look at.
std::string program_of(const Command& command) {
  const std::string& name = command.words[0];
  const auto path = command.environment.find("PATH");
  if (path == command.environment.end() || name.find('/') != std::string::npos) return name;
  std::istringstream folders(path->second);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string file = folder + "/" + name;
    if (access(file.c_str(), X_OK) == 0 && !std::filesystem::is_directory(file)) return file;
  }
  return name;
}

// c10 prints backtraces in such lines: "frame #37: <unknown function> + 0x2bc2f (0x7f8cc01a3c2f in
// libc.so.6)".
bool is_frame(std::string_view line) { return line.starts_with("frame #"); }

}  // namespace

pid_t spawn(const Command& command, const posix_spawn_file_actions_t& files,
            const posix_spawnattr_t& attributes) {
  std::vector<std::string> words = command.words;
  std::vector<std::string> variables = environment_with(command.environment);
  pid_t pid = -1;
  const int status = posix_spawnp(&pid, program_of(command).c_str(), &files, &attributes,
                                  pointers(words).data(), pointers(variables).data());
  if (status != 0) {
    throw setup_error("cannot start '{}': {}", fmt::join(command.words, " "), std::strerror(status));
  }
  return pid;
}

bool has_succeeded(int status) { return WIFEXITED(status) && WEXITSTATUS(status) == 0; }

std::string ending(int status) {
  const std::string words = WIFSIGNALED(status) ? fmt::format(" ({})", sigdescr_np(WTERMSIG(status))) : "";
  return ending_in_short(status) + words;
}

std::string ending_in_short(int status) {
  if (WIFSIGNALED(status)) return signal_name(WTERMSIG(status));
  return fmt::format("exit status {}", WEXITSTATUS(status));
}

std::string signal_name(int number) { return fmt::format("SIG{}", sigabbrev_np(number)); }

std::vector<std::string> last_lines(const std::filesystem::path& log, size_t count, std::streamoff begin) {
  std::ifstream file(log);
  file.seekg(begin);
  std::deque<std::string> kept;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || is_frame(line)) continue;
    kept.push_back(line);
    if (kept.size() > count) kept.pop_front();
  }
  return {kept.begin(), kept.end()};
}

}  // namespace opgate
