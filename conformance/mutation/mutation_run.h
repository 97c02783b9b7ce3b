// Runs each mutant under the checks of the calls that reach it, the cheap ones first, until one notices it.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "mutation/mutant.h"
#include "mutation/reached_calls.h"
#include "run/supervisor.h"

namespace opgate {

/// How much a mutant is worth.
struct MutationEffort {
  size_t jobs = 1;  ///< mutants at a time
  /// At most so many calls of native workers for each mutant at first. A mutant that survives is judged by
  /// all that are not simulated.
  size_t native_calls = 0;
  size_t python_cases = 0;   ///< at most so many cases of the Python half for each mutant
  bool slow_checks = false;  ///< whether checks that take seconds take part
};

class MutationRun {
 public:
  /// What `supervisor` runs, whose plan this is. All must outlive the run.
  MutationRun(const WorkerConfig& config, PythonHalf& python, const Plan& plan, const Filter& filter,
              const MutationEffort& effort);

  /// Runs all cases that may judge a mutant without one, and notes what they reach. Cases that fail already
  /// judge no mutant; their ids are returned in the order of the plan, or none if the run was interrupted.
  /// `progress` receives how many of how many cases have run.
  std::optional<std::vector<std::string>> find_reached(
      const std::function<void(size_t done, size_t all)>& progress);

  using OnResult = std::function<void(const MutantResult&)>;

  /// Gives each mutant its fate, and calls `on_result` for each in the order in which they end. Returns false
  /// if it was interrupted.
  bool run(const std::vector<Mutant>& mutants, const OnResult& on_result);

  /// Judges mutants that survived by the slow checks of the operators whose calls reach them, such as
  /// explore.samples, if these were left out. In the results, `killed` means that such a check notices the
  /// mutant. Returns false if it was interrupted.
  bool ask_slow_checks(const std::vector<Mutant>& survivors, const OnResult& on_result);

 private:
  class Trial;
  class Unmutated;

  // Cases of one kind of worker.
  struct Stage {
    Worker kind;
    bool simulated;
    size_t native_calls;  // at most
  };

  // Adds to `todo` the cases by which this stage judges the mutant.
  using Choose = std::function<void(int mutant, const Stage& stage, CaseSet& todo)>;

  bool may_judge(Calls::Position call, const Check& check) const;
  bool run(const std::vector<Mutant>& mutants, const Choose& choose, const OnResult& on_result);
  std::set<const Spec*> operators_that_reach(int mutant) const;
  size_t calls_that_reach(int mutant) const;
  void choose_cases(int mutant, const Stage& stage, CaseSet& todo) const;

  const WorkerConfig& config_;
  PythonHalf& python_;
  const Plan& plan_;
  const Filter& filter_;
  const MutationEffort effort_;
  CaseSet usable_;  // cases that judge mutants
  ReachedCalls reached_;
};

}  // namespace opgate
