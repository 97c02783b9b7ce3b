// Whether a fake kernel refuses what the operator refuses.
#pragma once

#include <optional>
#include <string>

#include "judging/calls/call_under_test.h"
#include "judging/verdict.h"

namespace opgate {

/// For a call that the operator refuses: the finding that its fake kernel accepts it. None if it refuses the
/// call, too; if the spec declares the dtypes of the call for another device, because a fake kernel does not
/// know for which one it answers; and if the operator accepts tensors of zeros, or of ones, in the same
/// place, or refuses them in other words, because a fake kernel sees no elements. `what` is the call in
/// words: "`weight` has one dim more".
std::optional<Finding> acceptance_by_fake(CallUnderTest& under_test, const std::string& what);

}  // namespace opgate
