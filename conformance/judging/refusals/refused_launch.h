// Whether a caller learns of a launch that the device refuses.
#pragma once

#include "judging/calls/call_under_test.h"
#include "judging/verdict.h"

namespace opgate {

/// Calls the operator on the simulated device once for each of its first launches, which is refused as if
/// resources lacked. Passes if each call raises, or returns what it returns otherwise. If not, the judgement
/// is a failure for an operator that promises clear errors, and a note for another.
Judgement judge_refused_launches(CallUnderTest& under_test);

}  // namespace opgate
