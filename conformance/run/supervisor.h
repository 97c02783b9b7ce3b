// Runs a plan: hands each case to the kind of worker that can judge it and gives every case a verdict.
#pragma once

#include <functional>
#include <list>
#include <string>
#include <vector>

#include "plan/case_set.h"
#include "plan/plan.h"
#include "run/lane.h"
#include "run/limits.h"
#include "run/python_half.h"

namespace opgate {

/// How workers are started; the native and the aoti worker are the program itself.
struct Programs {
  std::filesystem::path opgate;
  std::string python;  ///< the interpreter
  std::vector<std::filesystem::path> python_path;
  std::filesystem::path logs;  ///< folder
};

/// The program that is running, the interpreter it was built for (OPGATE_PYTHON overrides), and its Python
/// packages.
Programs this_program(const Config& config);

/// Runs one of OpGate's Python modules, with its packages and those of the project.
Command python_command(const Programs& programs, const std::string& module);

class Supervisor {
 public:
  /// Called often while it runs, with what the workers are at.
  using OnProgress = std::function<void(const std::vector<std::string>& current)>;

  Supervisor(Programs programs, Setup setup, Limits limits);

  /// Those of the logs and the packages; logs of earlier workers are removed. Throws SetupError where they
  /// cannot be written.
  void make_folders() const;

  /// The checks of OpGate's own Python half, told from the names of their files: without asking Python.
  std::vector<std::string> python_check_ids() const;

  /// Begins to find out what the Python half has: starts a Python worker, without waiting for it, where what
  /// one said last time no longer holds. Throws SetupError where there is no interpreter.
  void start_python();

  /// Waits for it and hears which checks and models there are; every worker is told of them from now on.
  /// Throws SetupError where it cannot start.
  PythonHalf python_half();

  /// Gives each case of `todo` a verdict, and takes it out; `filter` is what the plan was made with. At most
  /// `jobs` native workers run at a time, and as many Python ones, but not more than two: one that makes
  /// packages, and one that judges meanwhile. False where it was interrupted (SIGINT, SIGTERM).
  bool run(const Plan& plan, const Filter& filter, CaseSet& todo, size_t jobs, const Lane::Listener& listener,
           const OnProgress& on_progress);

  /// What the calls of the last run took.
  const Costs& costs() const { return costs_; }

 private:
  void give_owed(const Calls& calls, const CaseSet& todo, const Queue::OnVerdict& on_verdict) const;
  void prepare_packages(const Calls& calls, const CaseSet& todo, Queue& python) const;
  bool serve(const std::vector<Lane*>& lanes, const OnProgress& on_progress) const;
  Command command_of(Worker kind) const;
  Lane make_lane(Worker kind, size_t number = 1) const;

  Programs programs_;
  Setup setup_;
  Limits limits_;
  Lane python_;
  std::function<void(const nlohmann::json&)> on_python_ready_ = [](const nlohmann::json&) {};
  PythonMemory memory_;
  Costs costs_;
  std::optional<nlohmann::json> recalled_;  // what the Python half said, if it need not be asked
};

}  // namespace opgate
