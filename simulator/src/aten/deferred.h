// An operator in the order of its stream: its errors and the sizes of its results are known at once, its
// values when the stream gets there. It runs again each time that a captured graph does.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <c10/core/Device.h>

namespace opgate::simulator::aten {

/// Issues the operator to the current stream and replaces its arguments on the stack by its results. False,
/// with the stack as it was, where the results cannot be known without computing them: their sizes depend on
/// values, they are no tensors, or random numbers are drawn.
bool defer(const c10::OperatorHandle& op, torch::jit::Stack& stack, c10::Device device);

}  // namespace opgate::simulator::aten
