#include "cli/project/project_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/errors.h"
#include "device/device.h"
#include "device/simulator.h"
#include "inputs/call_key.h"
#include "plan/patterns.h"

namespace opgate {

void ProjectOptions::declare(CommandLine& app) {
  app.add_option("--config FILE", config,
                 "configuration file; by default opgate.toml in this folder or the nearest one above it");
  app.add_option("--output FOLDER", output,
                 "folder for results.jsonl and packages; by default .opgate beside the configuration");
  app.add_option("--build FOLDER", build,
                 "folder of a build; all libraries are taken from it, or from its lib/, by their file names")
      .existing_folder();
}

Config ProjectOptions::read() const {
  Config chosen = read_config(config);
  if (!output.empty()) chosen.output = std::filesystem::absolute(output);
  if (!build.empty()) chosen.libraries_from = std::filesystem::absolute(build);
  return chosen;
}

std::string ProjectOptions::again() const {
  std::string options;
  if (!config.empty()) options += fmt::format(" --config '{}'", config.string());
  if (!build.empty()) options += fmt::format(" --build '{}'", build.string());
  return options;
}

void declare_filter(CommandLine& app, Filter& filter) {
  app.add_option("--op PATTERN", filter.ops,
                 "only operators and models with this name; * and ? are wildcards");
  app.add_option("--check PATTERN", filter.checks,
                 "only checks with this id or group, such as value.layout or value");
  declare_devices(app, filter.devices);
  app.add_option("--case PATTERN", filter.cases, "only cases with this id; * and ? are wildcards");
  app.add_option("-k EXPRESSION", filter.keywords,
                 "only cases whose ids hold these words, joined by and, or, not and parentheses");
  declare_order(app, filter);
}

void declare_devices(CommandLine& app, std::vector<std::string>& devices) {
  app.add_option(
      "--device PATTERN", devices,
      fmt::format("only cases on {} or {}, the simulated {} device", fmt::join(device_type_names(), ", "),
                  kSimulatedDevice, device_title(kSimulatedType)));
}

void declare_no_simulator(CommandLine& app, bool& no_simulator) {
  app.add_flag(
      "--no-sim", no_simulator,
      "do not run CUDA calls on the simulated device; by default they run there where there is no GPU");
}

void choose_simulator(Filter& filter, bool no_simulator) {
  const std::string in_case = fmt::format("/{}/", kSimulatedDevice);
  const bool asked = std::ranges::count(filter.devices, kSimulatedDevice) > 0 ||
                     std::ranges::any_of(filter.cases, [&](const std::string& pattern) {
                       return pattern.find(in_case) != std::string::npos;
                     });
  if (asked && no_simulator)
    throw SetupError("--no-sim leaves out what --device or --case asks for; give one of them");
  const std::optional<std::string> missing = missing_simulator();
  if (asked && missing) throw setup_error("no case can run on {}: {}", kSimulatedDevice, *missing);
  filter.simulated = asked || (!no_simulator && !missing && missing_device(kSimulatedType) &&
                               selects(filter.devices, kSimulatedDevice));
}

void declare_order(CommandLine& app, Filter& filter) {
  app.add_option(
      "--order ORDER", filter.order,
      "order of the operators: \"reversed\", or a number that seeds a random order; by default that of "
      "their names. An operator whose verdict depends on the order is disturbed by another");
}

}  // namespace opgate
