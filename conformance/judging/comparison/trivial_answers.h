// Answers that need no kernel, such as zeros. If one of them passes for a sample, then the sample cannot tell
// a correct operator from one that computes nothing.
#pragma once

#include <string>
#include <vector>

#include "judging/calls/call_under_test.h"

namespace opgate {

/// The trivial answers to a contiguous call that its reference accepts, in the accuracy that the spec
/// promises: "zeros", "one value everywhere", "`x` unchanged", "results rounded to bfloat16", "truncated
/// results", and "results for other values", which lie in the memory of an earlier call. Only answers that
/// the call's results can have are tried: one value for more than one element, an argument that has their
/// shape, rounding for float32 and float64, other values if the spec has not written all of them. The call
/// must have returned, and its reference must have been run.
std::vector<std::string> trivial_answers_that_pass(CallUnderTest& under_test);

}  // namespace opgate
