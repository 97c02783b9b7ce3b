// One call made again under other circumstances: on another stream or device, or from a graph.
#pragma once

#include <c10/core/Stream.h>

#include <functional>
#include <string>

#include "judging/calls/call_under_test.h"
#include "judging/verdict.h"

namespace opgate {

/// The call's arguments with other values of the same domains, in the floating and complex tensors only,
/// because indices and lengths must fit each other; in all tensors where there are no such tensors. Each
/// `value_seed` gives a different set.
Arguments other_values(CallUnderTest& under_test, uint64_t value_seed);

/// Copies the values of `from` into the tensors of `to`, in place, on the current stream.
void overwrite(const Arguments& to, const Arguments& from);

/// Makes the call on tensors of an accelerator that get the case's values on `stream` only some time after
/// the call was launched, and that hold other values until then. The results are copied on `stream` directly
/// after the call: the copies are right only if the operator works on `stream`, or waits for it. With
/// `as_current`, `stream` is the current stream during the call; otherwise the current device and stream stay
/// as they are. `judge` judges what the call gives. On the simulated device there is a second call, whose
/// work on every stream waits until it is waited for, while that of the first runs as early as it may.
Judgement judge_on_late_inputs(CallUnderTest& under_test, c10::Stream stream, bool as_current,
                               const std::function<Judgement(const Outcome&)>& judge);

/// Passes where `got` has the bits of the eager call or, where the spec does not promise exact(), is within
/// the promised accuracy of the reference; without a reference, of the eager call. `likely` is the cause
/// that a finding names.
Judgement judge_like_eager(CallUnderTest& under_test, const Outcome& got, const std::string& promised,
                           const std::string& likely);

}  // namespace opgate
