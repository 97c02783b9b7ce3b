// The head's operators called with samples of the base that the head's specs no longer have, so that a spec
// that changed together with its operator does not hide what changed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gate/base/process_run.h"
#include "gate/state.h"
#include "plan/config.h"

namespace opgate {

/// Runs the head, with these options of the head's own `opgate run`, on those samples of the base (in the
/// samples.json beside its results) that the head's specs lack or give other arguments, in a process of its
/// own. Operators whose schema became incompatible are left out: the base's arguments do not fit them.
/// Returns nothing if there is no such sample, or no samples.json. Throws SetupError and Interrupted.
std::optional<RunState> run_base_samples(const RunState& base, const RunState& head, const Config& config,
                                         const std::vector<std::string>& options, const Announce& announce);

}  // namespace opgate
