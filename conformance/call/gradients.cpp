#include "call/gradients.h"

#include <torch/csrc/autograd/autograd.h>

namespace opgate {

std::vector<at::Tensor> gradients(const std::vector<at::Tensor>& outputs,
                                  const std::vector<at::Tensor>& inputs,
                                  const std::vector<at::Tensor>& cotangents, Order order) {
  return torch::autograd::grad(outputs, inputs, cotangents, /*retain_graph=*/true,
                               /*create_graph=*/order == Order::second, /*allow_unused=*/true);
}

}  // namespace opgate
