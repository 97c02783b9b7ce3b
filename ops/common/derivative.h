// What autograd wrappers share.
#pragma once

#include <torch/csrc/autograd/functions/utils.h>

namespace opgate_ops {

/// Whether a call with these tensors has to be differentiated: one of them requires a gradient while
/// gradients are enabled, or has a tangent of forward-mode AD. If not, a wrapper calls the operator below
/// autograd at once: Function::apply() would make a node that nobody asks, and that costs more than the rest
/// of a small call. A tangent counts, because Function::apply() then reports that it has no formula for it; a
/// call below autograd would drop the tangent silently.
template <class... Tensors>
bool is_differentiated(const Tensors&... tensors) {
  return torch::autograd::compute_requires_grad(tensors...) ||
         (torch::autograd::isFwGradDefined(tensors) || ...);
}

}  // namespace opgate_ops
