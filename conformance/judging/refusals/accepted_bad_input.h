// A bad input that the operator accepts: its result is compared with the reference's.
#pragma once

#include "inputs/bad_inputs.h"
#include "judging/calls/call_under_test.h"
#include "judging/verdict.h"

namespace opgate {

/// Fails where the reference raises, except for an empty group and an optional argument that is None; where
/// the number, shape or dtype of the results differs from the reference's; where values differ by more than
/// rounding (16 ulps of the largest value); and where the results depend on memory outside the arguments.
/// Without a reference only the last of these is judged.
///
/// The spec promises no accuracy for inputs that it does not write. Without a check for the damage the
/// result is garbage, and differs by far more than rounding. Values are not compared where the damage is
/// NaN, infinity or a floating number (eps, scale): a correct operator and a correct reference may differ
/// there (0 * NaN, cancellation). Nor is a difference reported where the operator is already wrong on the
/// undamaged sample, which value.reference reports.
///
/// `good` is the outcome of the undamaged sample.
Judgement judge_accepted(CallUnderTest& under_test, const BadInput& bad, const Outcome& good);

}  // namespace opgate
