// What most subcommands start from: the configuration, its subjects and checks, and what its workers are
// started with.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "cli/terminal/command_line.h"
#include "plan/config.h"
#include "plan/plan.h"
#include "run/module_inputs.h"
#include "run/supervisor.h"
#include "spec/specs.h"

namespace opgate {

/// Options that choose the configuration.
struct ProjectOptions {
  std::filesystem::path config;
  std::filesystem::path output;
  std::filesystem::path build;
  std::filesystem::path samples;  ///< file of samples instead of the specs'; only `opgate run` declares it
  bool keep_outputs = false;      ///< results of contiguous calls are kept in the folder outputs/

  void declare(CommandLine& app);
  /// Reads the configuration that the options choose. Throws SetupError.
  Config read() const;
  /// The same options for another command line: " --config 'my.toml'", or nothing.
  std::string again() const;
};

/// Declares the options that choose cases.
void declare_filter(CommandLine& app, Filter& filter);

/// Declares --device.
void declare_devices(CommandLine& app, std::vector<std::string>& devices);

/// Declares --no-sim.
void declare_no_simulator(CommandLine& app, bool& no_simulator);

/// Decides whether the calls on CUDA are planned on the simulated device as well: where there is no GPU and
/// `no_simulator` is false, or where the filter asks for the device `sim`. Throws SetupError if it does
/// and there is none.
void choose_simulator(Filter& filter, bool no_simulator);

/// Declares --order.
void declare_order(CommandLine& app, Filter& filter);

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
