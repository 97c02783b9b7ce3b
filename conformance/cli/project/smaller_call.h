// Looks for the smallest call that shows the same defect, for a report that is read by somebody else.
#pragma once

#include <optional>

#include "cli/project/other_call.h"

namespace opgate {

struct CallKey;
struct Check;
struct Judgement;

/// Tries smaller sizes, values of 0, 1, 2 ... or ones, and float32, some thirty calls in one run, and chooses
/// the one with the fewest elements and the simplest values that `check` judges as `seen`, with the same
/// fault. None if no other call shows it, and for models, classes, and checks that compile or take seconds.
/// Throws SetupError.
std::optional<OtherCall> find_smaller_call(const ProjectOptions& options, const CallKey& key,
                                           const Check& check, const Judgement& seen);

}  // namespace opgate
