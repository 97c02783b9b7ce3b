// Speeds that `opgate bench` measured, beside what is known of a run.
#pragma once

#include <filesystem>

#include "gate/state.h"

namespace opgate {

/// Puts each ratio of bench.jsonl that was measured into `state`, for the operators that it has. Throws
/// SetupError for a file that is no results of `opgate bench`, or unfinished, or of other libraries than
/// those with this digest.
void add_speeds(const std::filesystem::path& bench, const std::string& libraries, State& state);

}  // namespace opgate
