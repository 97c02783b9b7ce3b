// The meta kernels of gelu_tanh and its derivative. at::empty_like keeps symbolic sizes.
#include <ATen/ops/empty_like.h>
#include <torch/library.h>

#include "gelu_tanh.h"

namespace opgate_ops {
namespace {

at::Tensor gelu_tanh_meta(const at::Tensor& x) {
  check_gelu_tanh(x);
  return at::empty_like(x);
}

at::Tensor gelu_tanh_backward_meta(const at::Tensor& grad, const at::Tensor& x) {
  check_gelu_tanh_backward(grad, x);
  return at::empty_like(x);
}

}  // namespace
}  // namespace opgate_ops

TORCH_LIBRARY_IMPL(opgate_ops, Meta, m) {
  m.impl("gelu_tanh", &opgate_ops::gelu_tanh_meta);
  m.impl("gelu_tanh_backward", &opgate_ops::gelu_tanh_backward_meta);
}
