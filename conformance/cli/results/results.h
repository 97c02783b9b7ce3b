// What subcommands do with results.jsonl before and after a run.
#pragma once

#include <filesystem>
#include <string>

#include "cli/terminal/terminal.h"

namespace opgate {

class Tally;

/// Renames results of an interrupted run, or of another version of OpGate, so that they are not
/// overwritten, and says so on stderr.
void keep_interrupted(const std::filesystem::path& file);

/// Prints the table of groups of checks, the defects and the summary, which ends with `how` ("in 3.9 s").
/// Returns the exit status. Quiet: without the table and the notes. Verbose: the table of all checks, and all
/// defects.
int print_results(const Tally& tally, const std::string& how, Verbosity verbosity = Verbosity::usual);

}  // namespace opgate
