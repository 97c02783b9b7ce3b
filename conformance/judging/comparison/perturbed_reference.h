// The reference's results where its arguments, or what it computes on the way, differ by roundings.
#pragma once

#include <cstdint>
#include <vector>

#include "judging/calls/call_under_test.h"

namespace opgate {

/// The reference on arguments whose floating numbers are moved at random, each by at most `move` of its size.
Outcome moved_reference(CallUnderTest& under_test, const MaterializeOptions& options, uint64_t seed,
                        double move);

/// The dtype to whose precision rounded_reference() rounds: the case's, or Float if that is not narrower.
c10::ScalarType dtype_of_rounding(const CallKey& key);

/// The reference where each result of an operator that it calls is rounded at random, up or down.
Outcome rounded_reference(CallUnderTest& under_test, const MaterializeOptions& options, uint64_t seed);

/// The values of `call`, which are those of the reference in each element that is finite or not as roundings
/// have it: NaN has no weight in an interpolation at a whole coordinate, and spreads from one beside it.
std::vector<at::Tensor> values_with_settled_nans(CallUnderTest& under_test, const Outcome& call);

}  // namespace opgate
