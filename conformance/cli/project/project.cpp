#include "cli/project/project.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <opgate/error.h>

#include <algorithm>

#include "base/build.h"
#include "device/device.h"
#include "device/simulator.h"
#include "judging/all_checks.h"
#include "plan/patterns.h"
#include "process/interrupt.h"
#include "run/output_folder.h"
#include "run/project_setup.h"

namespace opgate {

void ProjectOptions::declare(CommandLine& app) {
  app.add_option("--config", config,
                 "configuration file; by default opgate.toml in this folder or the nearest one above it")
      .type_name("FILE");
  app.add_option("--output", output,
                 "folder for results.jsonl and packages; by default .opgate beside the configuration")
      .type_name("FOLDER");
  app.add_option("--build", build,
                 "folder of a build; all libraries are taken from it, or from its lib/, by their file names")
      .type_name("FOLDER")
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
  const std::string pattern = "PATTERN";
  app.add_option("--op", filter.ops, "only operators and models with this name; * and ? are wildcards")
      .type_name(pattern);
  app.add_option("--check", filter.checks, "only checks with this id or group, such as value.layout or value")
      .type_name(pattern);
  declare_devices(app, filter.devices);
  app.add_option("--case", filter.cases, "only cases with this id; * and ? are wildcards").type_name(pattern);
  app.add_option("-k", filter.keywords,
                 "only cases whose ids hold these words, joined by and, or, not and parentheses")
      .type_name("EXPRESSION");
  declare_order(app, filter);
}

void declare_devices(CommandLine& app, std::vector<std::string>& devices) {
  app.add_option(
         "--device", devices,
         fmt::format("only cases on {} or {}, the simulated {} device", fmt::join(device_type_names(), ", "),
                     kSimulatedDevice, device_title(kSimulatedType)))
      .type_name("PATTERN");
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
  if (asked && missing)
    throw SetupError(fmt::format("no case can run on {}: {}", kSimulatedDevice, *missing));
  filter.simulated = asked || (!no_simulator && !missing && missing_device(kSimulatedType) &&
                               selects(filter.devices, kSimulatedDevice));
}

void declare_order(CommandLine& app, Filter& filter) {
  app.add_option(
         "--order", filter.order,
         "order of the operators: \"reversed\", or a number that seeds a random order; by default that of "
         "their names. An operator whose verdict depends on the order is disturbed by another")
      .type_name("ORDER");
}

namespace {

bool asks_python(const WorkerConfig& workers, const Filter& filter) {
  const Setup& setup = workers.setup;
  if (!setup.modules.empty() || !setup.native.only_in_python.empty() || filter.planted ||
      filter.checks.empty())
    return true;
  const std::vector<std::string> ids = python_check_ids();
  return ids.empty() ||
         std::ranges::any_of(ids, [&](const std::string& id) { return selects_check(filter.checks, id); });
}

// The operators of torch itself, where this is first called before any library is loaded.
const std::set<std::string>& operators_of_torch() {
  static const std::set<std::string> operators = operators_defined_in_cpp();
  return operators;
}

// The operators that libraries, and those that they depend on, have defined.
std::set<std::string> operators_of_libraries() {
  std::set<std::string> operators = operators_defined_in_cpp();
  for (const std::string& name : operators_of_torch()) operators.erase(name);
  return operators;
}

}  // namespace

Project open_project(const ProjectOptions& options, const Limits& limits, const Filter* filter) {
  Project project;
  operators_of_torch();
  project.config = options.read();
  project.config.apply_environment();  // before a library reads it and child processes inherit it
  project.workers = {
      this_program(project.config),
      load_setup(project.config, python_interpreter()),  // reports a broken library before Python starts
      limits};
  Setup& setup = project.workers.setup;
  setup.memory = limits.memory;
  project.only_in_python = setup.native.only_in_python;
  setup.samples = options.samples.empty() ? "" : std::filesystem::absolute(options.samples).string();
  if (options.keep_outputs) setup.outputs = outputs_folder(project.config.output);
  project.python = std::make_unique<PythonHalf>(project.workers.programs, setup);
  watch_signals();
  make_worker_folders(project.workers.programs, setup);
  if (filter != nullptr && !asks_python(project.workers, *filter)) {
    project.torch = kTorchVersion;
    project.checks = all_checks(nlohmann::json::array());
    project.subjects = load_subjects(setup);
    project.operators = operators_of_libraries();
    return project;
  }
  project.python->start();  // imports torch while this process loads its libraries
  load_subjects(setup);     // a broken spec is reported before the wait for Python
  const PythonCatalog python = project.python->catalog();
  project.registered = python.registered;
  project.torch = python.torch;
  project.sources = python.sources;
  project.module_files = python.modules;
  project.inputs.variables = python.variables_read;
  for (const std::string& file : python.files_read)
    project.inputs.files[std::filesystem::weakly_canonical(file)] = digest_or_none(file);

  project.checks = all_checks(python.checks);
  setup.checks = python.checks;
  setup.models = python.models;
  setup.python_kernels = python.python_kernels;
  project.subjects = load_subjects(setup);
  project.operators = operators_of_libraries();
  project.operators.insert(python.operators.begin(), python.operators.end());
  return project;
}

std::vector<Spec> open_subjects(const ProjectOptions& options) {
  const Config config = options.read();
  if (!config.modules.empty()) return open_project(options).subjects;
  config.apply_environment();
  return load_subjects(load_setup(config, python_interpreter()));
}

}  // namespace opgate
