// How large the terms are that results are sums of: rounding errors are as large as the terms that cancel.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/stack.h>

#include <cstdint>
#include <vector>

#include "judging/calls/call_under_test.h"

namespace opgate {

/// The number of choices for with_signs().
uint64_t choices_of_signs(const torch::jit::Stack& stack);

/// Arguments with the magnitudes of those of `stack`, and with a choice of signs: one sign for each tensor,
/// and one for each floating number, in lists, too. Choice 0 has no negative sign. In another choice the two
/// terms of a difference add up.
torch::jit::Stack with_signs(const torch::jit::Stack& stack, uint64_t choice);

/// The largest magnitude that each element has in any of the lists. NaN and infinities are left out, as are
/// lists whose tensors have other shapes than those of the first list.
std::vector<at::Tensor> largest_magnitudes(const std::vector<std::vector<at::Tensor>>& lists);

/// For each tensor of `scales`, which are the reference's results for the absolute values of the inputs, a
/// scale at which no right order of operations has an error of more than about an ulp for each operation:
/// the largest of `scales`, of the results for other signs of the arguments, and of what the result changes
/// by if inputs or intermediate results are moved by roundings (the condition number: Higham, Accuracy and
/// Stability of Numerical Algorithms, 2nd ed., 1.6), in units of this move. A wrong formula gains nothing,
/// because the reference alone is called.
std::vector<at::Tensor> scales_of_terms(CallUnderTest& under_test, const Outcome& call,
                                        const MaterializeOptions& options,
                                        const std::vector<at::Tensor>& scales);

}  // namespace opgate
