#include "cli/project/project.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "base/build.h"
#include "judging/all_checks.h"
#include "plan/patterns.h"
#include "process/interrupt.h"
#include "run/output_folder.h"
#include "run/project_setup.h"

namespace opgate {

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
  if (const auto& need = project.python->need_of_device()) {
    setup.modules_need_device = true;
    fmt::print(stderr, "opgate: Python has the simulated device for all calls, because without a GPU: {}\n",
               *need);
  }
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
