// The derivatives of add, to any order: both arguments get the incoming gradient, summed over broadcast
// dimensions.
#include <ATen/ExpandUtils.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include "../common/derivative.h"
#include "add.h"

namespace opgate_ops {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

// An argument whose sizes or dtype are not those of the result: its gradient is summed and cast. For the
// others the gradient is the incoming one itself, and nothing is saved, because each entry of saved_data
// takes an allocation.
void save_difference(AutogradContext* context, const std::string& name, const at::Tensor& argument,
                     const at::Tensor& out) {
  if (!known_equal(argument.sym_sizes(), out.sym_sizes()))
    context->saved_data[name + " sizes"] = argument.sym_sizes().vec();
  if (argument.scalar_type() != out.scalar_type())
    context->saved_data[name + " dtype"] = argument.scalar_type();
}

at::Tensor gradient_of(AutogradContext* context, const std::string& name, at::Tensor grad) {
  const auto& saved = context->saved_data;
  if (saved.empty()) return grad;
  if (const auto sizes = saved.find(name + " sizes"); sizes != saved.end())
    grad = at::sum_to(std::move(grad), sizes->second.toSymIntVector());
  if (const auto dtype = saved.find(name + " dtype"); dtype != saved.end())
    grad = grad.to(dtype->second.toScalarType());
  return grad;
}

struct AddTensor : Function<AddTensor> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& other) {
    const at::AutoDispatchBelowADInplaceOrView below;
    context->set_materialize_grads(false);
    at::Tensor out = opgate_ops::add(x, other);
    save_difference(context, "x", x, out);
    save_difference(context, "other", other, out);
    return out;
  }
  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    variable_list results(2);
    if (grads[0].defined() && context->needs_input_grad(0)) results[0] = gradient_of(context, "x", grads[0]);
    if (grads[0].defined() && context->needs_input_grad(1))
      results[1] = gradient_of(context, "other", grads[0]);
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
  if (is_differentiated(x, other)) return AddTensor::apply(x, other);
  const at::AutoDispatchBelowADInplaceOrView below;
  return opgate_ops::add(x, other);
}
at::Tensor add_scalar_autograd(const at::Tensor& x, const at::Scalar& other) {
  if (is_differentiated(x)) return AddScalar::apply(x, other);
  const at::AutoDispatchBelowADInplaceOrView below;
  return opgate_ops::add(x, other);
}

}  // namespace
}  // namespace opgate_ops

TORCH_LIBRARY_IMPL(opgate_ops, Autograd, m) {
  m.impl("add.Tensor", &opgate_ops::add_tensor_autograd);
  m.impl("add.Scalar", &opgate_ops::add_scalar_autograd);
}
