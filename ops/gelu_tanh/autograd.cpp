// The derivatives of gelu_tanh, to any order: gelu_tanh_backward computes those of the operator, and ATen's
// operators, which are differentiable themselves, those of gelu_tanh_backward.
#include <ATen/OpMathType.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/sigmoid.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include "../common/derivative.h"
#include "gelu_tanh.h"

namespace opgate_ops {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

// An undefined incoming gradient stands for zeros, so the result is undefined, too.
struct GeluTanh : Function<GeluTanh> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x) {
    const at::AutoDispatchBelowADInplaceOrView below;
    context->set_materialize_grads(false);
    context->save_for_backward({x});
    return gelu_tanh(x);
  }
  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const at::Tensor& grad = grads[0];
    if (!grad.defined()) return {at::Tensor()};
    return {gelu_tanh_backward(grad, context->get_saved_variables()[0])};
  }
};

// d^2/dx^2 (x s) = 2 s' + x s'', with s' = s (1 - s) v' and s'' = s (1 - s) ((1 - 2 s) v'^2 + v''). 1 - s
// is computed as the sigmoid of -v, because the subtraction would give 0 long before the sigmoid does where
// v is large.
at::Tensor curvature(const at::Tensor& x) {
  using namespace gelu;
  const at::Tensor square = x * x;
  const at::Tensor v = kSlope * x * (1 + kCubic * square);
  const at::Tensor s = at::sigmoid(v), rest = at::sigmoid(-v);
  const at::Tensor first = kSlope * (1 + 3 * kCubic * square);
  const at::Tensor second = kSlope * 6 * kCubic * x;
  return s * rest * (2 * first + x * ((rest - s) * first * first + second));
}

struct GeluTanhBackward : Function<GeluTanhBackward> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& grad, const at::Tensor& x) {
    const at::AutoDispatchBelowADInplaceOrView below;
    context->set_materialize_grads(false);
    context->save_for_backward({grad, x});
    return gelu_tanh_backward(grad, x);
  }
  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const at::Tensor& outer = grads[0];
    if (!outer.defined()) return {at::Tensor(), at::Tensor()};
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &grad = saved[0], &x = saved[1];
    at::Tensor to_grad, to_x;
    if (context->needs_input_grad(0)) to_grad = gelu_tanh_backward(outer, x);
    if (context->needs_input_grad(1)) {
      // The sum is computed in the wider type, because its terms cancel and half types would lose
      // precision.
      const at::ScalarType wide = at::toOpMathType(x.scalar_type());
      to_x = (outer.to(wide) * grad.to(wide) * curvature(x.to(wide))).to(x.scalar_type());
    }
    return {to_grad, to_x};
  }
};

at::Tensor gelu_tanh_autograd(const at::Tensor& x) {
  if (is_differentiated(x)) return GeluTanh::apply(x);
  const at::AutoDispatchBelowADInplaceOrView below;
  return gelu_tanh(x);
}
at::Tensor gelu_tanh_backward_autograd(const at::Tensor& grad, const at::Tensor& x) {
  if (is_differentiated(grad, x)) return GeluTanhBackward::apply(grad, x);
  const at::AutoDispatchBelowADInplaceOrView below;
  return gelu_tanh_backward(grad, x);
}

}  // namespace
}  // namespace opgate_ops

TORCH_LIBRARY_IMPL(opgate_ops, Autograd, m) {
  m.impl("gelu_tanh", &opgate_ops::gelu_tanh_autograd);
  m.impl("gelu_tanh_backward", &opgate_ops::gelu_tanh_backward_autograd);
}
