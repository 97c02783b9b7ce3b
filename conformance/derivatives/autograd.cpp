#include "derivatives/autograd.h"

#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/forward_grad.h>

namespace opgate {

std::vector<at::Tensor> gradients(const std::vector<at::Tensor>& outputs,
                                  const std::vector<at::Tensor>& inputs,
                                  const std::vector<at::Tensor>& cotangents, Order order) {
  return torch::autograd::grad(outputs, inputs, cotangents, /*retain_graph=*/true,
                               /*create_graph=*/order == Order::second, /*allow_unused=*/true);
}

ForwardMode::ForwardMode() : level_(torch::autograd::ForwardADLevel::get_next_idx()) {}

ForwardMode::~ForwardMode() { torch::autograd::ForwardADLevel::release_idx(level_); }

void ForwardMode::set_tangent(const at::Tensor& input, const at::Tensor& tangent) const {
  input._set_fw_grad(tangent, level_, /*is_inplace_op=*/false);
}

at::Tensor ForwardMode::tangent(const at::Tensor& result) const { return result._fw_grad(level_); }

}  // namespace opgate
