// An operator that runs during its call, after everything in the stream before it.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <c10/core/Device.h>

namespace opgate::simulator::aten {

/// Replaces the arguments on the stack by the results.
void run_at_once(const c10::OperatorHandle& op, torch::jit::Stack& stack, c10::Device device);

}  // namespace opgate::simulator::aten
