// results.jsonl as commands begin and end with it.
#pragma once

#include <filesystem>

#include "cli/tally.h"
#include "run/journal.h"

namespace opgate {

/// Moves results aside that are of an interrupted run, or of another version of OpGate, so that they are not
/// overwritten, and says so.
void keep_interrupted(const std::filesystem::path& file);

/// Table, findings and summary with what `how` says of the run ("in 3.9 s"). Returns the exit status.
int print_results(const Tally& tally, const std::string& how);

}  // namespace opgate
