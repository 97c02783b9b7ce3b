// How much the specs notice of mistakes in the lines that a change has touched: `opgate mutate` in a process
// of its own.
#pragma once

#include <string>
#include <vector>

#include "gate/base/process_run.h"
#include "mutation/mutant_results.h"
#include "plan/config.h"

namespace opgate {

/// The mutants of the lines that differ from those of `commit`, judged by `opgate mutate` with these options
/// besides. Its report is kept in the output folder. Throws SetupError and Interrupted.
std::vector<MutantResult> mutants_of_change(const std::string& commit, const Config& config,
                                            const std::vector<std::string>& options,
                                            const Announce& announce);

}  // namespace opgate
