// Whether a result in float16 or bfloat16 is that of float32, as far as rounding allows.
#pragma once

#include "judging/calls/call_under_test.h"
#include "judging/verdict.h"

namespace opgate {

/// Fails if elements of a result in the call's dtype, float16 or bfloat16, are far from those that the
/// operator itself computes in float32 from the same values. Passes if the operator does not take float32.
///
/// The margin is far above rounding of a result, because nobody has promised an accuracy. An element counts
/// if in three calls with slightly different values each of its errors exceeds a quarter of the largest
/// element, and four times as much as any element moves from one call to another. So what is hard to compute
/// for these values does not count, and neither does an element that stays the same, such as a constant of
/// the dtype. A result of which most elements stay the same is not judged.
Judgement judge_half_precision(CallUnderTest& under_test);

}  // namespace opgate
