// Why a gradient is wrong: the backward does not use the cotangent (incoming gradient) of one of several
// results, or takes the elements of a cotangent for alike.
#pragma once

#include <functional>
#include <string>

#include "derivatives/derivative.h"
#include "judging/calls/call_under_test.h"

namespace opgate {

/// Whether the right gradient at the input differs between a derivative and one that has other cotangents.
using RightGradientDiffers = std::function<bool(const Derivative& other)>;

/// Computes the derivative `mine` of `request` again, for each output with its cotangent negated. "the
/// backward ignores the cotangent (incoming gradient) of output 1" where the gradient at `input` has the same
/// bits then, though the right gradient differs. Empty if there is no such output, and where no cotangent of
/// the outputs has an effect: then no gradient arrives at all.
std::string ignored_cotangents(CallUnderTest& under_test, const DerivativeRequest& request,
                               const Derivative& mine, const std::string& input,
                               const RightGradientDiffers& differs);

/// Whether the gradient at the input is right in a derivative that has other cotangents.
using IsRightGradient = std::function<bool(const Derivative& other)>;

/// Computes the derivative of `request` again for cotangents that are alike in all rows, along the last dim,
/// or everywhere. "the gradient is right where all rows of the incoming gradient are alike, ..." for the
/// first ones for which the gradient at `input` is right, and not zero beside that of `mine`. Empty if
/// there are none: the mistake lies elsewhere.
std::string cotangents_taken_for_alike(CallUnderTest& under_test, const DerivativeRequest& request,
                                       const Derivative& mine, const std::string& input,
                                       const IsRightGradient& is_right);

}  // namespace opgate
