// What `opgate mutate` prints.
#pragma once

#include <vector>

#include "mutation/mutant_results.h"

namespace opgate {

/// Prints the survivors as diffs, those that nothing reaches, a table by folder and by kind, and the score.
/// Returns the score of all.
MutationScore print_mutants(const std::vector<MutantResult>& results, bool verbose);

}  // namespace opgate
