// One call made again under other circumstances: on another stream or device, or from a CUDA graph.
#pragma once

#include <c10/core/Stream.h>

#include <string>

#include "call/evidence.h"
#include "checks/verdict.h"

namespace opgate {

/// The call's arguments with other values of the same domains: in the floating tensors, and in all where
/// there are none, because indices and lengths must fit each other. `series` tells one such set from another.
Arguments other_values(Evidence& evidence, uint64_t series);

/// Copies the values of `from` into the tensors of `to`, in place, on the current stream.
void overwrite(const Arguments& to, const Arguments& from);

/// Makes the call on CUDA tensors that get the case's values on `stream` only some time after it was made,
/// and hold others until then; its results are copied on `stream` right behind it. The copies are right only
/// if the operator works on `stream`, or waits for it. With `as_current` that is the current stream during
/// the call; otherwise another device is the current one.
Outcome call_on_late_inputs(Evidence& evidence, c10::Stream stream, bool as_current);

/// Passes where `got` has the bits of the eager call or, where the spec promises no bits, is within its
/// accuracy of the reference.
Judgement judge_elsewhere(Evidence& evidence, const Outcome& got, const std::string& promised,
                          const std::string& likely);

}  // namespace opgate
