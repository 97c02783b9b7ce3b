// One complete run, as `opgate run` and `opgate gate` make it: every planned case gets a verdict in
// results.jsonl.
#pragma once

#include <optional>

#include "cli/project/project_options.h"
#include "cli/project/run_cases.h"
#include "cli/terminal/terminal.h"
#include "plan/config.h"

namespace opgate {

class Tally;

struct RunOptions {
  ProjectOptions project;
  Filter filter;
  ShardOptions part;
  bool no_simulator = false;  ///< see choose_simulator()
  bool resume = false;
  bool only_last_failed = false;  ///< of the cases that the last run found broken
  size_t most_failures = 0;       ///< the run stops after so many; 0: it does not
  int durations = -1;  ///< how many of the slowest operators are listed at the end; 0: all, -1: none
  Verbosity verbosity = Verbosity::usual;
  ExecutionOptions execution;
};

/// Makes a run, or continues an interrupted one, and prints a header and the progress. Returns nothing if
/// it was interrupted. Throws SetupError.
std::optional<Tally> complete_run(const RunOptions& options);

}  // namespace opgate
