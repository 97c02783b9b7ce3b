#include "run/python/programs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/build.h"
#include "base/errors.h"
#include "base/files/files.h"
#include "device/simulator.h"
#include "process/libraries/python_package.h"
#include "run/worker/worker_process.h"

namespace opgate {
namespace {

namespace fs = std::filesystem;

// "worker-native.log", "worker-native-2.log", "worker-python-sim.log": each worker has its own log, so that
// the last lines of a worker that died are not mixed with another's.
fs::path log_of(const fs::path& folder, Worker kind, bool simulated, size_t number) {
  return folder / fmt::format("worker-{}{}{}.log", to_string(kind), simulated ? "-sim" : "",
                              number == 1 ? "" : fmt::format("-{}", number));
}

Command command_of(const Programs& programs, Worker kind) {
  Command command =
      kind == Worker::python ? python_command(programs, "opgate") : Command{{programs.opgate, "worker"}};
  // Some native kernels sum in another order with another thread count. So the count is the same on every
  // machine, and more than one, so that parallel code does run in parallel.
  if (kind == Worker::native && std::getenv("OMP_NUM_THREADS") == nullptr)
    command.environment.emplace("OMP_NUM_THREADS", "2");
  // Threads of OpenMP that wait for work keep a core busy, which another worker could use. With two workers
  // on two cores this takes most of the time.
  if (std::getenv("OMP_WAIT_POLICY") == nullptr) command.environment.emplace("OMP_WAIT_POLICY", "passive");
  // Without this variable, a package that receives another shape or dtype returns wrong results without an
  // error.
  if (std::getenv("AOTI_RUNTIME_CHECK_INPUTS") == nullptr)
    command.environment.emplace("AOTI_RUNTIME_CHECK_INPUTS", "1");
  return command;
}

}  // namespace

// The interpreter that OPGATE_PYTHON names; else, in a wheel, that of the environment that it is installed in
// (ENVIRONMENT/lib/python3.11/site-packages/opgate/built/torch-2.15/bin/opgate); else the one that this
// OpGate was built for.
std::string python_interpreter() {
  const char* chosen = std::getenv("OPGATE_PYTHON");
  if (chosen != nullptr && *chosen != '\0') return chosen;
  const fs::path package = python_package();
  const fs::path beside = package.parent_path().parent_path().parent_path().parent_path() / "bin" / "python3";
  const bool is_in_wheel = package.parent_path().filename() == "site-packages";
  return is_in_wheel && fs::exists(beside) ? beside.string() : kPython;
}

Programs this_program(const Config& config) {
  const fs::path program = this_executable();
  Programs programs{program, python_interpreter(), config.python_path, config.kernels, config.output};
  programs.python_path.insert(programs.python_path.begin(), program.parent_path().parent_path() / "python");
  return programs;
}

Command python_command(const Programs& programs, const std::string& module) {
  std::vector<std::string> folders;
  for (const fs::path& folder : programs.python_path) folders.push_back(folder.string());
  if (const char* present = std::getenv("PYTHONPATH")) folders.emplace_back(present);
  // -P keeps modules in the working directory from shadowing others.
  Command command{{programs.python, "-P", "-m", module},
                  {{"PYTHONPATH", fmt::format("{}", fmt::join(folders, ":"))}}};
  if (!programs.kernels.empty()) {  // see opgate/kernel_folders.py
    nlohmann::json kernels = nlohmann::json::object();
    for (const KernelFolder& kernel : programs.kernels)
      kernels[kernel.name] = {{"id", kernel.id}, {"folder", kernel.folder.string()}};
    command.environment["OPGATE_KERNELS"] = kernels.dump();
  }
  return command;
}

Command python_command(const Programs& programs, const std::string& module, const nlohmann::json& request) {
  const int file = memfd_create("request", 0);  // stays open in the command, which reads it
  const std::string text = request.dump();
  if (file < 0 || write(file, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    throw setup_error("cannot write what is asked of {}: {}", module, std::strerror(errno));
  lseek(file, 0, SEEK_SET);
  Command command = python_command(programs, module);
  command.words.push_back(std::to_string(file));
  return command;
}

WorkerProgram worker_program(const Programs& programs, Setup setup, Worker kind, bool simulated,
                             size_t number, bool is_alone) {
  setup.worker = kind;
  const bool is_python = kind == Worker::python;
  const bool has_simulator = simulated || (is_python && setup.modules_need_device);
  setup.simulated = has_simulator;
  Command command = command_of(programs, kind);
  if (has_simulator) command.environment.merge(simulator_environment());
  // To know the sizes of a result before the stream computes it, ATen asks its meta kernels, many of which
  // are written in Python and take longer than the operator. Checks of the order of work ask for it.
  if (has_simulator && is_python) command.environment.emplace("OPGATE_SIM_ATEN_AT_ONCE", "1");
  if (has_simulator && !is_alone && std::getenv("OPGATE_SIM_THREADS") == nullptr)
    command.environment.emplace("OPGATE_SIM_THREADS", "1");
  return {.command = std::move(command),
          .log = log_of(programs.logs, kind, simulated, number),
          .setup = std::move(setup)};
}

void make_worker_folders(const Programs& programs, const Setup& setup) {
  std::error_code failed;
  fs::create_directories(setup.packages, failed);  // inside the folder of the logs
  if (failed) {
    throw setup_error("cannot write into {}: {}; give another folder with --output", programs.logs.string(),
                      failed.message());
  }
  for (const fs::directory_entry& entry : fs::directory_iterator(programs.logs)) {
    if (entry.path().filename().string().starts_with("worker-")) fs::remove(entry.path(), failed);
  }
}

}  // namespace opgate
