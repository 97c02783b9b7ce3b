// Runs a plan for a subcommand: each verdict goes into results.jsonl as it comes, and progress to stderr.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/terminal/command_line.h"
#include "cli/terminal/terminal.h"
#include "plan/shard_assignment.h"
#include "process/limits.h"
#include "run/journal.h"

namespace opgate {

class CaseSet;
struct Filter;
struct Plan;
struct Project;

/// Options that say how cases are run.
struct ExecutionOptions {
  size_t jobs;
  int64_t seconds;         ///< time limit of a native call
  int64_t python_seconds;  ///< time limit of a call in the Python half, in seconds
  double gib;              ///< memory limit of a worker, in GiB

  /// The defaults: as many jobs as cores, and the limits of default_limits().
  ExecutionOptions();
  void declare(CommandLine& app);
  /// The same options for another command line.
  std::vector<std::string> words() const;
  Limits limits() const;
};

/// Options that choose a part of the plan.
struct ShardOptions {
  std::string shard;            ///< I/N; empty for everything
  std::filesystem::path costs;  ///< results.jsonl of an earlier run; empty to cut by position

  void declare(CommandLine& app);
  Shard read() const { return shard.empty() ? Shard{} : shard_from_string(shard); }
  /// Returns nothing if no file is given or another version of OpGate wrote it. Throws SetupError.
  std::optional<Costs> read_costs() const;
  ShardAssignment cut(const Calls& calls) const;
};

/// Makes the first line of results.jsonl: `todo` is the part of `plan` that is run, and `filter` chose the
/// plan.
RunHeader header_of(const Project& project, const Plan& plan, const Filter& filter, const CaseSet& todo,
                    const ShardOptions& part = {});

/// Gives each case of `todo` a verdict (by evidence if this machine lacks the device) and reports it to
/// `journal`, which begins with `header`, to `listener`, and to the progress on stderr. `known` is the number
/// of cases that already have a verdict. A quiet run shows no progress. Returns the time that the calls took,
/// or nothing if the run was interrupted or stopped by `listener`. Throws SetupError if a case is left
/// without a verdict.
std::optional<Costs> run_cases(Project& project, const Plan& plan, const RunHeader& header, CaseSet& todo,
                               size_t jobs, size_t known, Journal& journal, RunListener& listener,
                               Verbosity verbosity = Verbosity::usual);

}  // namespace opgate
