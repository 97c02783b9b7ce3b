// Whether a call changes a later one of the same sizes. Plans, tables and tuned parameters are made for the
// sizes of a first call, and a worker has made the first calls of all samples before a check asks.
#pragma once

#include <optional>

#include "judging/calls/call_under_test.h"
#include "judging/verdict.h"

namespace opgate {

/// Makes calls in sizes that no other call has, one layout after the other in both orders. A failure if a
/// call is right as the first one of its sizes and wrong after a call in another layout, or wrong as the
/// first one and right when it is made again. None otherwise, and if the sample has no other sizes: a call
/// that is always wrong is a matter of other checks. The spec must have a reference.
std::optional<Judgement> judge_calls_of_new_sizes(CallUnderTest& under_test, const std::string& promised);

}  // namespace opgate
