// What became of mutants: the score, and the file mutants.jsonl with a line for each.
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

MutationScore score_of(const std::vector<MutantResult>& results);

/// The file of all mutants in the output folder `output`.
std::filesystem::path mutants_file(const std::filesystem::path& output);

/// The mutant as a line of JSON.
std::string mutant_line(const MutantResult& result);

/// The mutants in `file`, which has a mutant_line() for each. Throws SetupError if it cannot be read.
std::vector<MutantResult> read_mutants(const std::filesystem::path& file);

}  // namespace opgate
