// Adds the speeds that `opgate bench` measured to the state of a run.
#pragma once

#include <filesystem>

#include "gate/state.h"

namespace opgate {

/// Copies each measured ratio of the file `bench` (bench.jsonl) into `state`, for the operators that
/// `state` has. Throws SetupError for a file that is unfinished, was not written by `opgate bench`, or was
/// measured with libraries of another digest than `libraries`.
void add_speeds(const std::filesystem::path& bench, const std::string& libraries, RunState& run);

}  // namespace opgate
