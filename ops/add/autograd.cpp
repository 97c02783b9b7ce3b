// The derivatives of add, to any order: both arguments get the incoming gradient, summed over broadcast
// dimensions.
#include <ATen/ExpandUtils.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include "add.h"

namespace opgate_ops {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

at::Tensor gradient_of(const at::Tensor& grad, const c10::IValue& sizes, const c10::IValue& dtype) {
  return at::sum_to(grad, sizes.toSymIntVector()).to(dtype.toScalarType());
}

struct AddTensor : Function<AddTensor> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& other) {
    const at::AutoDispatchBelowADInplaceOrView below;
    context->set_materialize_grads(false);
    context->saved_data["x_sizes"] = x.sym_sizes().vec();
    context->saved_data["x_dtype"] = x.scalar_type();
    context->saved_data["other_sizes"] = other.sym_sizes().vec();
    context->saved_data["other_dtype"] = other.scalar_type();
    return opgate_ops::add(x, other);
  }
  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    variable_list results(2);
    auto& saved = context->saved_data;
    if (grads[0].defined() && context->needs_input_grad(0))
      results[0] = gradient_of(grads[0], saved["x_sizes"], saved["x_dtype"]);
    if (grads[0].defined() && context->needs_input_grad(1))
      results[1] = gradient_of(grads[0], saved["other_sizes"], saved["other_dtype"]);
    return results;
  }
};

struct AddScalar : Function<AddScalar> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Scalar& other) {
    const at::AutoDispatchBelowADInplaceOrView below;
    context->set_materialize_grads(false);
    return opgate_ops::add(x, other);
  }
  // A Scalar does not change a dtype that has gradients, so the gradient needs no conversion.
  static variable_list backward(AutogradContext*, const variable_list& grads) {
    return {grads[0], at::Tensor()};
  }
};

at::Tensor add_tensor_autograd(const at::Tensor& x, const at::Tensor& other) {
  return AddTensor::apply(x, other);
}
at::Tensor add_scalar_autograd(const at::Tensor& x, const at::Scalar& other) {
  return AddScalar::apply(x, other);
}

}  // namespace
}  // namespace opgate_ops

TORCH_LIBRARY_IMPL(opgate_ops, Autograd, m) {
  m.impl("add.Tensor", &opgate_ops::add_tensor_autograd);
  m.impl("add.Scalar", &opgate_ops::add_scalar_autograd);
}
