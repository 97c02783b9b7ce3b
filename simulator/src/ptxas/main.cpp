// Stands in for ptxas where kernels run on the simulated device: it keeps the PTX beside the machine code,
// which the simulator cannot read. With OPGATE_SIM_PTXAS=1 the real ptxas runs first, so that its errors and
// its counts of registers are reported as they are; otherwise the file holds the PTX alone, because ptxas
// takes longer than all else that compiles a kernel. Called as Triton and PyTorch call ptxas.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "environment/setting.h"
#include "ptxas/machine_code.h"

namespace fs = std::filesystem;
using opgate::simulator::Setting;

namespace {

// What Triton and Inductor make part of the key of their caches: nothing that was compiled for a real device
// is read, or written over.
constexpr const char* kVersion = "with PTX kept for OpGate's simulated device, 2";
constexpr const char* kVersionWithoutCode = "PTX alone, for OpGate's simulated device, 2";
// The release decides which version of PTX Triton writes.
constexpr const char* kReleaseWithoutPtxas = "Cuda compilation tools, release 12.8, V12.8.0";
constexpr int kWrongUsage = 1;

struct Arguments {
  std::vector<std::string> all;
  fs::path input, output;
  bool asks_for_version = false;
};

Arguments parse(int count, char** words) {
  Arguments arguments;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    arguments.all.push_back(word);
    if (word == "--version" || word == "-V") {
      arguments.asks_for_version = true;
    } else if ((word == "-o" || word == "--output-file") && i + 1 < count) {
      arguments.output = words[++i];
      arguments.all.emplace_back(words[i]);
    } else if (!word.starts_with("-")) {
      arguments.input = word;
    }
  }
  return arguments;
}

// $OPGATE_PTXAS_FOLDER has one of each name that Triton knows: ptxas, ptxas-blackwell.
std::optional<fs::path> real_ptxas(const fs::path& own_name) {
  const char* const folder = std::getenv("OPGATE_PTXAS_FOLDER");
  if (folder == nullptr || *folder == '\0') return std::nullopt;
  const fs::path found = fs::path(folder) / own_name.filename();
  return access(found.c_str(), X_OK) == 0 ? std::optional(found) : std::nullopt;
}

// The exit status, or 128 and the signal that ended it, as a shell reports it.
int run(const fs::path& program, const std::vector<std::string>& arguments) {
  const pid_t child = fork();
  if (child == 0) {
    std::vector<char*> words{const_cast<char*>(program.c_str())};
    for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
    words.push_back(nullptr);
    execv(program.c_str(), words.data());
    std::perror(program.c_str());
    _exit(127);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) < 0) {
    std::perror("ptxas");
    return kWrongUsage;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int print_version(const std::optional<fs::path>& real, bool compiles) {
  int status = 0;
  if (real)
    status = run(*real, {"--version"});
  else
    std::cout << kReleaseWithoutPtxas << "\n";
  std::cout << (compiles ? kVersion : kVersionWithoutCode) << std::endl;
  return status;
}

}  // namespace

int main(int count, char** words) {
  const Arguments arguments = parse(count, words);
  const std::optional<fs::path> real = real_ptxas(words[0]);
  const bool compiles = real && value_of(Setting::ptxas) == "1";
  if (arguments.asks_for_version) return print_version(real, compiles);
  if (arguments.input.empty() || arguments.output.empty()) {
    std::cerr << "ptxas (OpGate's stand-in): give a file of PTX, and -o FILE\n";
    return kWrongUsage;
  }
  if (compiles) {
    if (const int status = run(*real, arguments.all); status != 0) return status;
  }
  try {
    const std::string ptx = opgate::simulator::read_file(arguments.input);
    const std::string code =
        compiles ? opgate::simulator::read_file(arguments.output) : opgate::simulator::empty_machine_code();
    opgate::simulator::write_file(arguments.output, opgate::simulator::with_ptx(code, ptx));
  } catch (const std::exception& error) {
    std::cerr << "ptxas (OpGate's stand-in): " << error.what() << "\n";
    return kWrongUsage;
  }
  return 0;
}
