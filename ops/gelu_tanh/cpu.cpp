// gelu_tanh and its derivative on the CPU.
#include <ATen/Dispatch.h>
#include <ATen/ops/empty_like.h>
#include <torch/library.h>

#include "../common/elementwise.h"
#include "gelu_tanh.h"

namespace opgate_ops {
namespace {

at::Tensor gelu_tanh_cpu(const at::Tensor& x) {
  check_gelu_tanh(x);
  at::Tensor out = at::empty_like(x);
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "gelu_tanh", [&] {
    elementwise<scalar_t>(
        out, [](auto value) { return gelu::value(value); }, x);
  });
  return out;
}

at::Tensor gelu_tanh_backward_cpu(const at::Tensor& grad, const at::Tensor& x) {
  check_gelu_tanh_backward(grad, x);
  at::Tensor out = at::empty_like(x);
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "gelu_tanh_backward", [&] {
    elementwise<scalar_t>(
        out, [](auto g, auto value) { return g * gelu::slope(value); }, grad, x);
  });
  return out;
}

}  // namespace
}  // namespace opgate_ops

TORCH_LIBRARY_IMPL(opgate_ops, CPU, m) {
  m.impl("gelu_tanh", &opgate_ops::gelu_tanh_cpu);
  m.impl("gelu_tanh_backward", &opgate_ops::gelu_tanh_backward_cpu);
}
