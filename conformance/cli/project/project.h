// What most subcommands start from: the configuration, its subjects and checks, and what its workers are
// started with.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "cli/project/project_options.h"
#include "plan/config.h"
#include "run/python/module_inputs.h"
#include "run/supervisor.h"
#include "spec/spec.h"

namespace opgate {

struct Project {
  Config config;
  std::vector<Spec> subjects;
  std::vector<Check> checks;
  OpRegistrations registered;       ///< what the Python half says of operators; see PythonCatalog
  std::set<std::string> operators;  ///< all that the libraries and Python modules define
  std::string torch;                ///< version that the Python half imports
  std::string sources;              ///< digest of the Python half's files
  std::map<std::string, std::string> module_files;    ///< PythonCatalog::modules
  ModuleInputs inputs;                                ///< what those modules read
  std::map<std::string, std::string> only_in_python;  ///< see NativeLibraries

  WorkerConfig workers;  ///< with what the Python half described
  std::unique_ptr<PythonHalf> python;
};

/// Loads the operator and spec libraries and starts the Python half. If `filter` selects native checks only
/// and no Python module is configured, the Python half is not started and its checks are missing. Throws
/// SetupError.
Project open_project(const ProjectOptions& options, const Limits& limits = default_limits(),
                     const Filter* filter = nullptr);

/// What the specs describe, without the checks: the Python half is started only where a Python module is
/// configured. Throws SetupError.
std::vector<Spec> open_subjects(const ProjectOptions& options);

}  // namespace opgate
