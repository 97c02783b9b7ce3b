// The derivatives of matmul, to any order: they are two products, which are differentiable themselves.
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include "../common/derivative.h"
#include "matmul.h"

namespace opgate_ops {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

struct Matmul : Function<Matmul> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& a, const at::Tensor& b) {
    const at::AutoDispatchBelowADInplaceOrView below;
    context->set_materialize_grads(false);
    context->save_for_backward({a, b});
    return opgate_ops::matmul(a, b);
  }
  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    variable_list results(2);
    const variable_list saved = context->get_saved_variables();
    if (grads[0].defined() && context->needs_input_grad(0))
      results[0] = opgate_ops::matmul(grads[0], saved[1].t());
    if (grads[0].defined() && context->needs_input_grad(1))
      results[1] = opgate_ops::matmul(saved[0].t(), grads[0]);
    return results;
  }
};

at::Tensor matmul_autograd(const at::Tensor& a, const at::Tensor& b) {
  if (is_differentiated(a, b)) return Matmul::apply(a, b);
  const at::AutoDispatchBelowADInplaceOrView below;
  return opgate_ops::matmul(a, b);
}

}  // namespace
}  // namespace opgate_ops

TORCH_LIBRARY_IMPL(opgate_ops, Autograd, m) { m.impl("matmul", &opgate_ops::matmul_autograd); }
