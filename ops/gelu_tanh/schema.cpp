// The schemas of gelu_tanh, and the C++ functions that call it.
//
// The derivative is an operator of its own, so that it has a kernel for each device, can be differentiated
// again, and stays one node in a compiled graph.
#include <torch/library.h>

#include "../common/dispatched.h"
#include "gelu_tanh.h"

TORCH_LIBRARY_FRAGMENT(opgate_ops, m) {
  m.def("gelu_tanh(Tensor x) -> Tensor", {at::Tag::pt2_compliant_tag});
  m.def("gelu_tanh_backward(Tensor grad, Tensor x) -> Tensor", {at::Tag::pt2_compliant_tag});
}

namespace opgate_ops {

at::Tensor gelu_tanh(const at::Tensor& x) {
  static const auto op = dispatched<at::Tensor(const at::Tensor&)>("opgate_ops::gelu_tanh");
  return op.call(x);
}

at::Tensor gelu_tanh_backward(const at::Tensor& grad, const at::Tensor& x) {
  static const auto op =
      dispatched<at::Tensor(const at::Tensor&, const at::Tensor&)>("opgate_ops::gelu_tanh_backward");
  return op.call(grad, x);
}

}  // namespace opgate_ops
