// The call with tensors converted to another dtype, for checks that compare what an operator does in two of
// them.
#pragma once

#include <functional>
#include <optional>

#include "judging/calls/call_under_test.h"

namespace opgate {

struct ConvertedCall {
  Arguments arguments;  ///< before the call, if the operator writes to none
  Outcome outcome;
};

/// Makes the contiguous call with each floating tensor of dtype `of` replaced by what `convert` returns for
/// it. None if the operator does not take these arguments: it raises, or it fails on the device or writes
/// outside its memory, as a kernel does that never asks for the dtype.
std::optional<ConvertedCall> converted_call(CallUnderTest& under_test, c10::ScalarType of,
                                            const std::function<at::Tensor(const at::Tensor&)>& convert);

}  // namespace opgate
