// Runs a plan: gives each case to the kind of worker that can judge it, and collects a verdict for every
// case.
#pragma once

#include <functional>
#include <list>
#include <string>
#include <vector>

#include "plan/case_set.h"
#include "plan/config.h"
#include "plan/plan.h"
#include "process/limits.h"
#include "run/python_catalog.h"
#include "run/python_template.h"
#include "run/worker_handle.h"

namespace opgate {

/// How workers are started. The native and the aoti workers are the program `opgate` itself.
struct Programs {
  std::filesystem::path opgate;
  std::string python;  ///< the interpreter
  std::vector<std::filesystem::path> python_path;
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

class Supervisor {
 public:
  /// Called about every 50 ms during a run, with the call or preparation that each busy worker works on.
  using OnProgress = std::function<void(const std::vector<std::string>& current)>;

  Supervisor(Programs programs, Setup setup, Limits limits);

  /// Makes the folders of the logs and the packages, and removes the logs of earlier workers. Throws
  /// SetupError where they cannot be written.
  void make_folders() const;

  /// The checks of OpGate's own Python half, derived from their file names without starting Python.
  std::vector<std::string> python_check_ids() const;

  /// Starts a Python worker, without waiting for it, unless the cached catalog is still valid. Throws
  /// SetupError where there is no interpreter.
  void start_python();

  /// Waits for the Python worker, where one was started, and returns its checks and models. Workers that
  /// start later receive them in their set-up. Throws SetupError where the worker cannot start.
  PythonCatalog python_catalog();

  /// Ends the run early: run() returns soon. For the functions that run() calls.
  void stop() { stopped_ = true; }

  /// Gives each case of `todo` a verdict and removes it from `todo`; `filter` is what the plan was made
  /// with. At most `jobs` native workers run at a time, and at most min(jobs, 2) Python workers: one that
  /// makes packages, and one that judges meanwhile; a single one makes packages last. Returns false where it was interrupted (SIGINT,
  /// SIGTERM) or stopped.
  bool run(const Plan& plan, const Filter& filter, CaseSet& todo, size_t jobs,
           const WorkerHandle::Listener& listener, const OnProgress& on_progress);

  /// What the calls of the last complete run took.
  const Costs& costs() const { return costs_; }

 private:
  bool stopped_ = false;
  bool run_on(bool simulated, const Plan& plan, const CaseSet& todo, size_t jobs,
              const WorkerHandle::Listener& hear, const OnProgress& on_progress);
  void give_owed(const Calls& calls, const CaseSet& todo, const Queue::OnVerdict& on_verdict) const;
  void prepare_packages(bool simulated, const Calls& calls, const CaseSet& todo, Queue& python) const;
  bool serve(const std::vector<WorkerHandle*>& handles, const OnProgress& on_progress) const;
  Command command_of(Worker kind) const;
  WorkerHandle::Program program_of(Worker kind, bool simulated = false, size_t number = 1) const;

  Programs programs_;
  Setup setup_;
  Limits limits_;
  PythonTemplate python_;
  std::function<void(const nlohmann::json&)> on_python_ready_ = [](const nlohmann::json&) {};
  PythonCatalogCache memory_;
  Costs costs_;
  std::optional<nlohmann::json> recalled_;  // the cached catalog, where it is still valid
};

}  // namespace opgate
