// One whole run, as `opgate run` and `opgate gate` make it: every planned case has a verdict in
// results.jsonl.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "cli/project.h"
#include "cli/sweep.h"
#include "cli/tally.h"

namespace opgate {

struct RunOptions {
  ProjectOptions project;
  Filter filter;
  ShardOptions part;
  bool resume = false;
  SweepOptions sweep;
};

/// Runs, or goes on with an interrupted run, and says on the terminal what and how far; none where it was
/// interrupted. Throws SetupError.
std::optional<Tally> full_run(const RunOptions& options);

/// Where its results are.
std::filesystem::path results_file(const Config& config);

}  // namespace opgate
