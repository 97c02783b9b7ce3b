// Gradients through autograd. A file of its own, because autograd's headers take long to compile.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace opgate {

/// Of a second order, the gradients can be differentiated again.
enum class Order { first, second };

/// The gradient at each of `inputs`, given those at `outputs`; undefined where no output depends on it. The
/// graph stays, so that it can be asked for again. Throws c10::Error.
std::vector<at::Tensor> gradients(const std::vector<at::Tensor>& outputs,
                                  const std::vector<at::Tensor>& inputs,
                                  const std::vector<at::Tensor>& cotangents, Order order = Order::first);

}  // namespace opgate
