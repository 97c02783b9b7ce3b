#include "cli/project.h"

#include <fmt/format.h>

#include <algorithm>

#include "run/subjects.h"

namespace opgate {

void ProjectOptions::declare(CLI::App& app) {
  app.add_option("--config", config, "the configuration; by default the nearest opgate.toml upwards")
      ->type_name("FILE");
  app.add_option("--output", output,
                 "folder for results.jsonl and packages; by default .opgate beside the configuration")
      ->type_name("FOLDER");
}

std::string ProjectOptions::again() const {
  return config.empty() ? "" : fmt::format(" --config '{}'", config.string());
}

void declare_filter(CLI::App& app, Filter& filter) {
  const std::string pattern = "PATTERN";
  app.add_option("--op", filter.ops, "only operators and models of this name; * and ? match")
      ->type_name(pattern);
  app.add_option("--check", filter.checks, "only checks of this id or group, such as value.layout or value")
      ->type_name(pattern);
  app.add_option("--device", filter.devices, "only cpu or cuda")->type_name(pattern);
  app.add_option("--case", filter.cases, "only cases with this id; * and ? match")->type_name(pattern);
}

Project open_project(const ProjectOptions& options) {
  Project project;
  project.config = read_config(options.config);
  if (!options.output.empty()) project.config.output = std::filesystem::absolute(options.output);
  Setup setup = setup_from(project.config);
  project.supervisor = std::make_unique<Supervisor>(this_program(project.config), setup);
  project.supervisor->start_python();  // imports torch while this process loads its libraries
  project.checks = native_checks();
  load_subjects(setup);  // a broken library or spec is reported before the wait for Python
  PythonHalf python = project.supervisor->python_half();
  project.torch = python.torch;
  project.checks.insert(project.checks.end(), python.checks.begin(), python.checks.end());
  std::ranges::sort(project.checks, {}, &Check::name);
  setup.models = python.models;
  project.supervisor->set_models(python.models);
  project.subjects = load_subjects(setup);
  return project;
}

}  // namespace opgate
