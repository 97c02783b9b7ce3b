// What `opgate mutate` prints, and the file with all mutants.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "mutation/mutant.h"

namespace opgate {

/// How many mutants had which fate.
struct MutationScore {
  size_t killed = 0, survived = 0, not_reached = 0, equivalent = 0, refused = 0;

  void add(Fate fate);
  /// The percentage of those that could be noticed and were; 100 if there are none.
  double percent() const;
};

/// Prints the survivors as diffs, those that nothing reaches, a table by folder and by kind, and the score.
/// Returns the score of all.
MutationScore print_mutants(const std::vector<MutantResult>& results, bool verbose);

/// The mutant as a line of JSON.
std::string mutant_line(const MutantResult& result);

}  // namespace opgate
