// The meta kernels of layer_norm and its derivative. The results are contiguous, whatever the strides of
// the input.
#include <torch/library.h>

#include "layer_norm.h"

namespace opgate_ops {
namespace {

std::tuple<at::Tensor, at::Tensor, at::Tensor> layer_norm_with_statistics_meta(const at::Tensor& input,
                                                                               const at::Tensor& weight,
                                                                               const at::Tensor& bias,
                                                                               double eps) {
  check_layer_norm(input, weight, bias, eps);
  return empty_with_statistics(input);
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> layer_norm_backward_meta(const at::Tensor& grad,
                                                                        const at::Tensor& input,
                                                                        const at::Tensor& mean,
                                                                        const at::Tensor& rstd,
                                                                        const at::Tensor& weight) {
  check_layer_norm_backward(grad, input, mean, rstd, weight);
  return empty_gradients(input, weight);
}

}  // namespace
}  // namespace opgate_ops

TORCH_LIBRARY_IMPL(opgate_ops, Meta, m) {
  m.impl("layer_norm_with_statistics", &opgate_ops::layer_norm_with_statistics_meta);
  m.impl("layer_norm_backward", &opgate_ops::layer_norm_backward_meta);
}
