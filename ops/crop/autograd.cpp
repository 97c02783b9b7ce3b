// The derivatives of crop, to any order: paste puts the incoming gradient into zeros, and has derivatives
// itself.
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include "../common/derivative.h"
#include "../paste/paste.h"
#include "crop.h"

namespace opgate_ops {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

struct Crop : Function<Crop> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& pic, c10::SymIntArrayRef box) {
    const at::AutoDispatchBelowADInplaceOrView below;
    context->set_materialize_grads(false);
    at::Tensor out = opgate_ops::crop(pic, box);
    context->saved_data["pic"] = pic.sym_sizes().vec();
    context->saved_data["corner"] = box.slice(0, 2).vec();
    return out;
  }
  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    if (!grads[0].defined()) return variable_list(2);
    const at::Tensor zeros =
        at::zeros_symint(context->saved_data["pic"].toSymIntVector(), grads[0].options());
    return {opgate_ops::paste(zeros, grads[0], context->saved_data["corner"].toSymIntVector()), at::Tensor()};
  }
};

at::Tensor crop_autograd(const at::Tensor& pic, c10::SymIntArrayRef box) {
  if (is_differentiated(pic)) return Crop::apply(pic, box);
  const at::AutoDispatchBelowADInplaceOrView below;
  return opgate_ops::crop(pic, box);
}

}  // namespace
}  // namespace opgate_ops

TORCH_LIBRARY_IMPL(opgate_ops, Autograd, m) { m.impl("crop", &opgate_ops::crop_autograd); }
