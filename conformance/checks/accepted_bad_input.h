// A bad input that the operator took: what it returned is held against the reference's answer.
#pragma once

#include "call/bad_inputs.h"
#include "call/evidence.h"
#include "checks/verdict.h"

namespace opgate {

/// Fails where the reference raises; where the results have another number, shape or dtype than the
/// reference's; where their values differ by more than rounding; and where they depend on memory that is not
/// the arguments'.
///
/// No accuracy is promised of inputs that the spec did not write: what a missing check returns is garbage,
/// and not the last bit. Where NaN, infinity or a floating number (eps, scale) is the damage, values are left
/// to value.reference: there a correct operator and a correct reference may part (0 * NaN, cancellation). So
/// is what an operator returns that is wrong on the undamaged sample, too.
///
/// `good` is what the undamaged sample gives.
Judgement judge_accepted(Evidence& evidence, const BadInput& bad, const Outcome& good);

}  // namespace opgate
