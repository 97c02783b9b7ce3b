// The derivatives of layer_norm_with_statistics, to any order: layer_norm_backward computes those of its
// first result, and ATen's operators, which are differentiable themselves, those of the statistics and of
// layer_norm_backward.
#include <ATen/TensorOperators.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include "../common/derivative.h"
#include "layer_norm.h"

namespace opgate_ops {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

at::Tensor mean_of_row(const at::Tensor& a) { return a.mean(-1, /*keepdim=*/true); }
at::Tensor sum_of_row(const at::Tensor& a) { return a.sum(-1, /*keepdim=*/true); }

// The gradient of input for those of its statistics, where they have any: with n columns,
// d mean / d x = 1 / n and d rstd / d x = - rstd^3 (x - mean) / n.
at::Tensor gradient_through_statistics(const at::Tensor& input, const at::Tensor& mean,
                                       const at::Tensor& rstd, const at::Tensor& to_mean,
                                       const at::Tensor& to_rstd) {
  at::Tensor result;
  if (to_mean.defined()) result = to_mean.expand_symint(input.sym_sizes());
  if (to_rstd.defined()) {
    const at::Tensor part = to_rstd * rstd * rstd * rstd * (mean - input);
    result = result.defined() ? result + part : part;
  }
  return (result / at::Scalar(input.sym_size(-1))).to(input.scalar_type());
}

struct LayerNorm : Function<LayerNorm> {
  static variable_list forward(AutogradContext* context, const at::Tensor& input, const at::Tensor& weight,
                               const at::Tensor& bias, double eps) {
    const at::AutoDispatchBelowADInplaceOrView below;
    context->set_materialize_grads(false);
    const auto [out, mean, rstd] = layer_norm_with_statistics(input, weight, bias, eps);
    context->save_for_backward({input, weight, mean, rstd});
    return {out, mean, rstd};
  }
  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &input = saved[0], &weight = saved[1], &mean = saved[2], &rstd = saved[3];
    variable_list results(4);
    if (grads[0].defined())
      std::tie(results[0], results[1], results[2]) = layer_norm_backward(grads[0], input, mean, rstd, weight);
    if (grads[1].defined() || grads[2].defined()) {
      const at::Tensor part = gradient_through_statistics(input, mean, rstd, grads[1], grads[2]);
      results[0] = results[0].defined() ? results[0] + part : part;
    }
    return results;
  }
};

// The statistics count as arguments of their own here; how they depend on the input is the business of
// LayerNorm. With y = (x - mean) rstd, h = grad * weight and P(a) = a - mean(a) - y mean(a y), where P is
// symmetric, the results are rstd P(h), the sum over rows of grad y, and the sum over rows of grad. Their
// incoming gradients are u, v and t. The gradients are:
//
//   grad:    weight rstd P(u) + v y + t
//   weight:  the sum over rows of grad rstd P(u)
//   input:   rstd a,    where a = v grad - rstd (mean(h y) u + mean(u y) h) is the gradient of y
//   mean:    - the sum over the row of rstd a
//   rstd:    the sum over the row of a (x - mean) + u P(h)
struct LayerNormBackward : Function<LayerNormBackward> {
  static variable_list forward(AutogradContext* context, const at::Tensor& grad, const at::Tensor& input,
                               const at::Tensor& mean, const at::Tensor& rstd, const at::Tensor& weight) {
    const at::AutoDispatchBelowADInplaceOrView below;
    context->save_for_backward({grad, input, mean, rstd, weight});
    const auto [d_input, d_weight, d_bias] = layer_norm_backward(grad, input, mean, rstd, weight);
    return {d_input, d_weight, d_bias};
  }
  static variable_list backward(AutogradContext* context, const variable_list& outer) {
    const variable_list saved = context->get_saved_variables();
    const at::ScalarType wide = statistics_dtype(saved[0].scalar_type());
    const at::Tensor g = saved[0].to(wide), x = saved[1].to(wide), weight = saved[4].to(wide);
    const at::Tensor mean = saved[2].to(wide), rstd = saved[3].to(wide);
    const at::Tensor u = outer[0].to(wide), v = outer[1].to(wide), t = outer[2].to(wide);

    const at::Tensor centered = x - mean, y = centered * rstd, h = g * weight;
    const auto project = [&](const at::Tensor& a) { return a - mean_of_row(a) - y * mean_of_row(a * y); };
    const at::Tensor a = v * g - rstd * (mean_of_row(h * y) * u + mean_of_row(u * y) * h);
    const at::Tensor projected = rstd * project(u), to_input = rstd * a;
    const at::Tensor to_grad = weight * projected + v * y + t, to_weight = g * projected;
    const at::Tensor to_mean = -sum_of_row(to_input), to_rstd = sum_of_row(a * centered + u * project(h));
    // Autograd gives each the dtype of its argument, and adds up the rows for weight.
    return {to_grad, to_input, to_mean, to_rstd, to_weight};
  }
};

std::tuple<at::Tensor, at::Tensor, at::Tensor> three(const variable_list& results) {
  return {results[0], results[1], results[2]};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> layer_norm_autograd(const at::Tensor& input,
                                                                   const at::Tensor& weight,
                                                                   const at::Tensor& bias, double eps) {
  if (is_differentiated(input, weight, bias)) return three(LayerNorm::apply(input, weight, bias, eps));
  const at::AutoDispatchBelowADInplaceOrView below;
  return layer_norm_with_statistics(input, weight, bias, eps);
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> layer_norm_backward_autograd(const at::Tensor& grad,
                                                                            const at::Tensor& input,
                                                                            const at::Tensor& mean,
                                                                            const at::Tensor& rstd,
                                                                            const at::Tensor& weight) {
  if (is_differentiated(grad, input, mean, rstd, weight))
    return three(LayerNormBackward::apply(grad, input, mean, rstd, weight));
  const at::AutoDispatchBelowADInplaceOrView below;
  return layer_norm_backward(grad, input, mean, rstd, weight);
}

}  // namespace
}  // namespace opgate_ops

TORCH_LIBRARY_IMPL(opgate_ops, Autograd, m) {
  m.impl("layer_norm_with_statistics", &opgate_ops::layer_norm_autograd);
  m.impl("layer_norm_backward", &opgate_ops::layer_norm_backward_autograd);
}
