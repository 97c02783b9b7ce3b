// What autograd must know about an operator that writes to its argument: the history of output is now that
// of the sine, and its version has changed, so that a backward pass for which it was saved raises an error.
#include <ATen/TensorOperators.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include "../common/derivative.h"
#include "sin_out.h"

namespace opgate_ops {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

struct SinOut : Function<SinOut> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& input, const at::Tensor& output) {
    context->set_materialize_grads(false);
    context->save_for_backward({input.is_alias_of(output) ? input.clone() : input});
    context->mark_dirty({output});
    const at::AutoDispatchBelowAutograd below;
    sin_out(input, output);
    return output;
  }
  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    if (!grads[0].defined()) return variable_list(2);
    return {grads[0] * context->get_saved_variables()[0].cos(), at::Tensor()};
  }
};

void sin_out_autograd(const at::Tensor& input, const at::Tensor& output) {
  if (is_differentiated(input, output)) {
    SinOut::apply(input, output);
  } else {
    const at::AutoDispatchBelowAutograd below;
    sin_out(input, output);
  }
}

void sin_out_versioned(const at::Tensor& input, const at::Tensor& output) {
  {
    const at::AutoDispatchBelowADInplaceOrView below;
    sin_out(input, output);
  }
  torch::autograd::impl::bump_version(output);
}

}  // namespace
}  // namespace opgate_ops

TORCH_LIBRARY_IMPL(opgate_ops, Autograd, m) { m.impl("sin_out", &opgate_ops::sin_out_autograd); }
TORCH_LIBRARY_IMPL(opgate_ops, ADInplaceOrView, m) { m.impl("sin_out", &opgate_ops::sin_out_versioned); }
