// Integer tensors of a draft, which may hold indices. A recording does not say whether callers answer for
// their values, so a draft assumes it, and error.raises tries values outside of the recorded ones. What does
// harm is a note: either the operator or the assumption is wrong, and only the author knows which.
#pragma once

#include <optional>
#include <string>

#include "inputs/bad_inputs.h"
#include "judging/calls/call_under_test.h"
#include "judging/verdict.h"

namespace opgate {

/// The note that the argument is not checked. `harm` says what happens with this value: "memory outside of
/// `x` is written".
Judgement unchecked_index(const BadInput& bad, const std::string& harm);

/// The note where the call wrote or read outside of its tensors; none if it was refused or did no harm.
std::optional<Judgement> harm_of_assumed_index(CallUnderTest& under_test, const BadInput& bad);

/// The note for a call that ended its worker or did not end in time; none if the call has no such index, or
/// if an exception ended the worker: the operator has checked the index, and loses its refusal.
std::optional<Judgement> note_of_lost_worker(const CallKey& key, const Judgement& lost);

}  // namespace opgate
