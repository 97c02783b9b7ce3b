// The call on meta tensors, which have sizes, strides and dtypes but no data. It runs the operator's fake
// kernel.
#pragma once

#include "call/observation.h"

namespace opgate {

/// The arguments with a meta tensor for each tensor of `real`, with the same sizes, strides, storage offset,
/// and lazy conjugation or negation. Each lies in a storage of its own.
Arguments on_meta(const Arguments& real);

/// Calls the operator with a meta tensor for each tensor of `real`, with the same sizes, strides, storage
/// offset, and lazy conjugation or negation. If the operator raises, the outcome says so.
Outcome call_on_meta(const c10::OperatorHandle& op, const Arguments& real);

}  // namespace opgate
