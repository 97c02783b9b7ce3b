// The meta kernels of layer_norm and its derivative. The results are contiguous, whatever the strides of
// the input.
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include "layer_norm.h"

namespace opgate_ops {
namespace {

at::Tensor layer_norm_meta(const at::Tensor& input, const at::Tensor& weight, const at::Tensor& bias,
                           double eps) {
  check_layer_norm(input, weight, bias, eps);
  return at::empty_symint(input.sym_sizes(), input.options());
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> layer_norm_backward_meta(const at::Tensor& grad,
                                                                        const at::Tensor& input,
                                                                        const at::Tensor& weight,
                                                                        double eps) {
  check_layer_norm_backward(grad, input, weight, eps);
  return {at::empty_symint(input.sym_sizes(), input.options()),
          at::empty_symint(weight.sym_sizes(), weight.options()),
          at::empty_symint(weight.sym_sizes(), weight.options())};
}

}  // namespace
}  // namespace opgate_ops

TORCH_LIBRARY_IMPL(opgate_ops, Meta, m) {
  m.impl("layer_norm", &opgate_ops::layer_norm_meta);
  m.impl("layer_norm_backward", &opgate_ops::layer_norm_backward_meta);
}
