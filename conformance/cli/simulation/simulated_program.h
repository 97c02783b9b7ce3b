// A program that `opgate sim` runs, with what the user has chosen for it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "process/command.h"

namespace opgate {

struct SimulatedProgram {
  std::vector<std::string> tools;
  std::string architecture = "90";
  size_t devices = 2;
  std::string streams = "late";
  std::string autotune = "first";  ///< which configurations of a kernel run: `first` or `all`
  std::string changed_since = {};  ///< a commit; tests of pytest that reach no change since do not run
  bool uses_ptxas = false;
  size_t memory = 0;  ///< bytes of the machine that a process may take; 0: most of them
  std::vector<std::string> program;
};

/// The order of blocks and warps: a seed, or a schedule if it is not empty. And how late stores become
/// visible to other blocks: a seed, or 0 if they do at once.
struct ChosenOrder {
  size_t seed = 0;
  std::string schedule = {};
  size_t late_stores = 0;
};

/// What can be looked for, as words of the command line, and the tool that counts.
std::vector<std::string> tools_to_choose();

/// These without the tool that counts, which finds nothing.
std::vector<std::string> tools_that_find();

/// Those of these tools that watch kernels. The device finds what the others report in any case.
std::vector<std::string> tools_that_watch(const std::vector<std::string>& tools);

/// Runs the program, and appends what is found to `report`.
Command command_of(const SimulatedProgram& program, const ChosenOrder& order,
                   const std::filesystem::path& report);

/// What a person types to run it once more with this order.
std::string command_that_repeats(const SimulatedProgram& program, const ChosenOrder& order);

}  // namespace opgate
