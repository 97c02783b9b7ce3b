// Runs a plan: gives each case to the kind of worker that can judge it, and collects a verdict for every
// case.
#pragma once

#include "plan/case_set.h"
#include "plan/plan.h"
#include "process/limits.h"
#include "run/cost_tracker.h"
#include "run/python/programs.h"
#include "run/python/python_half.h"
#include "run/worker/worker_client.h"

namespace opgate {

/// What all workers of a project are started with.
struct WorkerConfig {
  Programs programs;
  Setup setup;
  Limits limits;
};

class Supervisor {
 public:
  /// `filter` is what the plan was made with, and `python` has described the checks and models of
  /// `config.setup`. The plan and `python` must outlive the supervisor.
  Supervisor(const WorkerConfig& config, PythonHalf& python, const Plan& plan, const Filter& filter);

  /// Gives each case of `todo` a verdict, removes it from `todo` and reports it to `listener`. At most `jobs`
  /// native workers run at a time, and at most min(jobs, 2) Python workers: one that makes packages, and one
  /// that judges meanwhile; a single one makes packages last. Returns what the calls took, or none if the
  /// run was interrupted (SIGINT, SIGTERM) or stopped.
  std::optional<Costs> run(CaseSet& todo, size_t jobs, RunListener& listener) const;

 private:
  bool run_on(bool simulated, const CaseSet& todo, size_t jobs, RunListener& listener) const;
  void give_owed(const CaseSet& todo, RunListener& listener) const;
  WorkerProgram program_of(Worker kind, bool simulated, bool is_alone, size_t number = 1) const;

  const Programs programs_;
  const Setup setup_;
  const Limits limits_;
  PythonHalf& python_;
  const Plan& plan_;
};

}  // namespace opgate
