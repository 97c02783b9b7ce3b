#include "cli/simulation/simulated_program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <opgate_sim.h>

#include <algorithm>
#include <sstream>

#include "device/simulator.h"
#include "process/libraries/python_package.h"

namespace opgate {
namespace {

// A word as a shell reads it.
std::string in_shell(const std::string& word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+./,:@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

}  // namespace

std::vector<std::string> tools_to_choose() {
  std::vector<std::string> all = {"memory", "api"};
  std::istringstream watching(OPGATE_SIM_TOOL_NAMES);
  for (std::string tool; std::getline(watching, tool, ',');) all.push_back(tool);
  return all;
}

std::vector<std::string> tools_that_find() {
  std::vector<std::string> finding = tools_to_choose();
  std::erase(finding, OPGATE_SIM_COUNTING_TOOL);
  return finding;
}

std::vector<std::string> tools_that_watch(const std::vector<std::string>& tools) {
  std::vector<std::string> watching;
  for (const std::string& tool : tools)
    if (tool != "memory" && tool != "api") watching.push_back(tool);
  return watching;
}

Command command_of(const SimulatedProgram& program, const ChosenOrder& order,
                   const std::filesystem::path& report) {
  Command command{program.program, simulator_environment()};
  command.environment["PYTHONPATH"] = python_path_with_startup();
  command.environment["OPGATE_SIM_REPORT"] = report.string();
  // Those of a pytest which runs `opgate sim`.
  for (const char* name : {"PYTEST_CURRENT_TEST", "PYTEST_XDIST_WORKER_COUNT"})
    command.environment[name] = "";
  command.environment["OPGATE_SIM_TOOLS"] =
      fmt::format("{}", fmt::join(tools_that_watch(program.tools), ","));
  command.environment["OPGATE_SIM_ARCH"] = program.architecture;
  command.environment["OPGATE_SIM_DEVICES"] = std::to_string(program.devices);
  command.environment["OPGATE_SIM_SHUFFLE"] = std::to_string(order.seed);
  command.environment["OPGATE_SIM_SCHEDULE"] = order.schedule;
  command.environment["OPGATE_SIM_LATE_STORES"] = std::to_string(order.late_stores);
  command.environment["OPGATE_SIM_RECOVER"] = "1";
  command.environment["OPGATE_SIM_EAGER"] = program.streams == "early" ? "1" : "0";
  command.environment["OPGATE_SIM_AUTOTUNE"] = program.autotune;
  command.environment["OPGATE_CHANGED_SINCE"] = program.changed_since;
  command.environment["OPGATE_KERNELS_OF_TESTS"] =
      (std::filesystem::current_path() / "recorded" / "kernels_of_tests.jsonl").string();
  if (program.memory != 0)
    command.environment["OPGATE_SIM_HOST_MEMORY"] = std::to_string(std::max<size_t>(program.memory >> 20, 1));
  if (program.uses_ptxas) command.environment["OPGATE_SIM_PTXAS"] = "1";
  return command;
}

std::string command_that_repeats(const SimulatedProgram& program, const ChosenOrder& order) {
  const SimulatedProgram usual;
  std::string text = "opgate sim";
  if (program.tools != tools_that_find()) text += fmt::format(" --tool {}", fmt::join(program.tools, ","));
  if (program.architecture != usual.architecture) text += " --arch " + program.architecture;
  if (program.devices != usual.devices) text += fmt::format(" --devices {}", program.devices);
  if (program.streams != usual.streams) text += " --streams " + program.streams;
  if (program.autotune != usual.autotune) text += " --autotune " + program.autotune;
  if (!program.changed_since.empty()) text += " --changed-since " + in_shell(program.changed_since);
  if (program.uses_ptxas) text += " --ptxas";
  text += order.schedule.empty() ? fmt::format(" --seed {} --seconds 0", order.seed)
                                 : " --schedule " + in_shell(order.schedule);
  if (order.late_stores != 0) text += fmt::format(" --late-stores {}", order.late_stores);
  text += " --";
  for (const std::string& word : program.program) text += " " + in_shell(word);
  return text;
}

}  // namespace opgate
