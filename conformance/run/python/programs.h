// The programs that workers are: which ones, with which arguments and environment.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "plan/config.h"
#include "process/command.h"

namespace opgate {

enum class Worker;
struct Setup;
struct WorkerProgram;

/// How workers are started. The native and the aoti workers are the program `opgate` itself.
struct Programs {
  std::filesystem::path opgate;
  std::string python;  ///< the interpreter
  std::vector<std::filesystem::path> python_path;
  std::vector<KernelFolder> kernels;
  std::filesystem::path logs;  ///< folder
};

/// The program that is running, the Python interpreter that it was built for (OPGATE_PYTHON overrides it),
/// and the folders of its Python packages and the project's.
Programs this_program(const Config& config);

/// The Python of this OpGate, with which this process loads libraries that need Python's symbols.
std::string python_interpreter();

/// The command that runs one of OpGate's Python modules, with OpGate's packages and the project's on
/// PYTHONPATH.
Command python_command(const Programs& programs, const std::string& module);

/// The same, with what is asked of the module in a file that has no name; opgate/request.py reads it.
Command python_command(const Programs& programs, const std::string& module, const nlohmann::json& request);

/// The worker with this number of its kind, for calls on the simulated device or on others. `setup` need not
/// have either. `is_alone`: no other worker runs at the same time, so that kernels on the simulated device
/// may use all cores.
WorkerProgram worker_program(const Programs& programs, Setup setup, Worker kind, bool simulated = false,
                             size_t number = 1, bool is_alone = false);

/// Makes the folders of the logs and the packages, and removes the logs of earlier workers. Throws
/// SetupError where they cannot be written.
void make_worker_folders(const Programs& programs, const Setup& setup);

}  // namespace opgate
