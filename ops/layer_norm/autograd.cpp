// The derivatives of layer_norm, to any order: layer_norm_backward computes those of the operator, and
// ATen's operators, which are differentiable themselves, those of layer_norm_backward.
#include <ATen/OpMathType.h>
#include <ATen/TensorOperators.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include <numeric>
#include <vector>

#include "layer_norm.h"

namespace opgate_ops {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

struct LayerNorm : Function<LayerNorm> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& input, const at::Tensor& weight,
                            const at::Tensor& bias, double eps) {
    const at::AutoDispatchBelowADInplaceOrView below;
    context->set_materialize_grads(false);
    context->save_for_backward({input, weight});
    context->saved_data["eps"] = eps;
    return layer_norm(input, weight, bias, eps);
  }
  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    if (!grads[0].defined()) return variable_list(4);
    const variable_list saved = context->get_saved_variables();
    const auto [d_input, d_weight, d_bias] =
        layer_norm_backward(grads[0], saved[0], saved[1], context->saved_data["eps"].toDouble());
    return {d_input, d_weight, d_bias, at::Tensor()};
  }
};

// With y = (x - mean) rstd, h = grad * weight and P(a) = a - mean(a) - y mean(a y), where P is symmetric,
// the results are rstd P(h), the sum over rows of grad y, and the sum over rows of grad. Their incoming
// gradients are u, v and t. The gradients are:
//
//   grad:    weight rstd P(u) + v y + t
//   weight:  the sum over rows of grad rstd P(u)
//   input:   rstd P(a) - rstd^2 y mean(u P(h)),    a = v grad - rstd (mean(h y) u + mean(u y) h)
//
// The second term for input comes from the dependence of rstd on x.
struct LayerNormBackward : Function<LayerNormBackward> {
  static variable_list forward(AutogradContext* context, const at::Tensor& grad, const at::Tensor& input,
                               const at::Tensor& weight, double eps) {
    const at::AutoDispatchBelowADInplaceOrView below;
    context->save_for_backward({grad, input, weight});
    context->saved_data["eps"] = eps;
    const auto [d_input, d_weight, d_bias] = layer_norm_backward(grad, input, weight, eps);
    return {d_input, d_weight, d_bias};
  }
  static variable_list backward(AutogradContext* context, const variable_list& outer) {
    const variable_list saved = context->get_saved_variables();
    const at::ScalarType dtype = saved[0].scalar_type(), wide = at::toOpMathType(dtype);
    const at::Tensor g = saved[0].to(wide), x = saved[1].to(wide), weight = saved[2].to(wide);
    const at::Tensor u = outer[0].to(wide), v = outer[1].to(wide), t = outer[2].to(wide);
    const double eps = context->saved_data["eps"].toDouble();

    const auto mean = [](const at::Tensor& a) { return a.mean(-1, /*keepdim=*/true); };
    const at::Tensor centered = x - mean(x);
    const at::Tensor rstd = (mean(centered * centered) + eps).rsqrt();
    const at::Tensor y = centered * rstd;
    const auto project = [&](const at::Tensor& a) { return a - mean(a) - y * mean(a * y); };
    std::vector<int64_t> rows(static_cast<size_t>(x.dim() - 1));
    std::iota(rows.begin(), rows.end(), 0);
    const auto sum_of_rows = [&](const at::Tensor& a) { return rows.empty() ? a : a.sum(rows); };
    const at::Tensor h = g * weight;
    const at::Tensor a = v * g - rstd * (mean(h * y) * u + mean(u * y) * h);
    const at::Tensor to_grad = weight * rstd * project(u) + v * y + t;
    const at::Tensor to_input = rstd * project(a) - rstd * rstd * y * mean(u * project(h));
    const at::Tensor to_weight = sum_of_rows(g * rstd * project(u));
    return {to_grad.to(dtype), to_input.to(dtype), to_weight.to(dtype), at::Tensor()};
  }
};

at::Tensor layer_norm_autograd(const at::Tensor& input, const at::Tensor& weight, const at::Tensor& bias,
                               double eps) {
  return LayerNorm::apply(input, weight, bias, eps);
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> layer_norm_backward_autograd(const at::Tensor& grad,
                                                                            const at::Tensor& input,
                                                                            const at::Tensor& weight,
                                                                            double eps) {
  const variable_list results = LayerNormBackward::apply(grad, input, weight, eps);
  return {results[0], results[1], results[2]};
}

}  // namespace
}  // namespace opgate_ops

TORCH_LIBRARY_IMPL(opgate_ops, Autograd, m) {
  m.impl("layer_norm", &opgate_ops::layer_norm_autograd);
  m.impl("layer_norm_backward", &opgate_ops::layer_norm_backward_autograd);
}
