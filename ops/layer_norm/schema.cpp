// The schemas of layer_norm, the C++ functions that call it, and layer_norm itself, which is the first result
// of another operator on every device, and in every mode.
#include <torch/library.h>

#include "../common/dispatched.h"
#include "layer_norm.h"

TORCH_LIBRARY_FRAGMENT(opgate_ops, m) {
  m.def("layer_norm(Tensor input, Tensor weight, Tensor bias, float eps=1e-05) -> Tensor",
        {at::Tag::pt2_compliant_tag});
  m.def(
      "layer_norm_with_statistics(Tensor input, Tensor weight, Tensor bias, float eps=1e-05) -> (Tensor, "
      "Tensor, Tensor)",
      {at::Tag::pt2_compliant_tag});
  m.def(
      "layer_norm_backward(Tensor grad, Tensor input, Tensor mean, Tensor rstd, Tensor weight) -> (Tensor, "
      "Tensor, Tensor)",
      {at::Tag::pt2_compliant_tag});
}

namespace opgate_ops {
namespace {

at::Tensor layer_norm_composed(const at::Tensor& input, const at::Tensor& weight, const at::Tensor& bias,
                               double eps) {
  return std::get<0>(layer_norm_with_statistics(input, weight, bias, eps));
}

}  // namespace

at::Tensor layer_norm(const at::Tensor& input, const at::Tensor& weight, const at::Tensor& bias, double eps) {
  static const auto op =
      dispatched<at::Tensor(const at::Tensor&, const at::Tensor&, const at::Tensor&, double)>(
          "opgate_ops::layer_norm");
  return op.call(input, weight, bias, eps);
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> layer_norm_with_statistics(const at::Tensor& input,
                                                                          const at::Tensor& weight,
                                                                          const at::Tensor& bias,
                                                                          double eps) {
  using Signature = std::tuple<at::Tensor, at::Tensor, at::Tensor>(const at::Tensor&, const at::Tensor&,
                                                                   const at::Tensor&, double);
  static const auto op = dispatched<Signature>("opgate_ops::layer_norm_with_statistics");
  return op.call(input, weight, bias, eps);
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> layer_norm_backward(const at::Tensor& grad,
                                                                   const at::Tensor& input,
                                                                   const at::Tensor& mean,
                                                                   const at::Tensor& rstd,
                                                                   const at::Tensor& weight) {
  using Signature = std::tuple<at::Tensor, at::Tensor, at::Tensor>(
      const at::Tensor&, const at::Tensor&, const at::Tensor&, const at::Tensor&, const at::Tensor&);
  static const auto op = dispatched<Signature>("opgate_ops::layer_norm_backward");
  return op.call(grad, input, mean, rstd, weight);
}

}  // namespace opgate_ops

TORCH_LIBRARY_IMPL(opgate_ops, CompositeImplicitAutograd, m) {
  m.impl("layer_norm", &opgate_ops::layer_norm_composed);
}
