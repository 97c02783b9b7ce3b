// The schemas of layer_norm, and the C++ functions that call it.
#include <torch/library.h>

#include "../common/dispatched.h"
#include "layer_norm.h"

TORCH_LIBRARY_FRAGMENT(opgate_ops, m) {
  m.def("layer_norm(Tensor input, Tensor weight, Tensor bias, float eps=1e-05) -> Tensor",
        {at::Tag::pt2_compliant_tag});
  m.def(
      "layer_norm_backward(Tensor grad, Tensor input, Tensor weight, float eps) -> (Tensor, Tensor, Tensor)",
      {at::Tag::pt2_compliant_tag});
}

namespace opgate_ops {

at::Tensor layer_norm(const at::Tensor& input, const at::Tensor& weight, const at::Tensor& bias, double eps) {
  static const auto op =
      dispatched<at::Tensor(const at::Tensor&, const at::Tensor&, const at::Tensor&, double)>(
          "opgate_ops::layer_norm");
  return op.call(input, weight, bias, eps);
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> layer_norm_backward(const at::Tensor& grad,
                                                                   const at::Tensor& input,
                                                                   const at::Tensor& weight, double eps) {
  using Signature = std::tuple<at::Tensor, at::Tensor, at::Tensor>(const at::Tensor&, const at::Tensor&,
                                                                   const at::Tensor&, double);
  static const auto op = dispatched<Signature>("opgate_ops::layer_norm_backward");
  return op.call(grad, input, weight, eps);
}

}  // namespace opgate_ops
