// The derivatives of paste, to any order: the pasted image gets the gradient of its pixels, and the image
// below the gradient of the other pixels.
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include "../common/derivative.h"
#include "../crop/crop.h"
#include "paste.h"

namespace opgate_ops {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

struct Paste : Function<Paste> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& im1, const at::Tensor& im2,
                            c10::SymIntArrayRef coord) {
    const at::AutoDispatchBelowADInplaceOrView below;
    context->set_materialize_grads(false);
    at::Tensor out = opgate_ops::paste(im1, im2, coord);
    context->saved_data["im2"] = im2.sym_sizes().vec();
    context->saved_data["coord"] = coord.vec();
    return out;
  }
  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const at::Tensor& grad = grads[0];
    variable_list results(3);
    const std::vector<c10::SymInt> sizes = context->saved_data["im2"].toSymIntVector();
    const std::vector<c10::SymInt> coord = context->saved_data["coord"].toSymIntVector();
    if (grad.defined() && context->needs_input_grad(0))
      results[0] = opgate_ops::paste(grad, at::zeros_symint(sizes, grad.options()), coord);
    if (grad.defined() && context->needs_input_grad(1))
      results[1] = opgate_ops::crop(
          grad, std::vector<c10::SymInt>{coord[0], coord[1], coord[0] + sizes[2], coord[1] + sizes[1]});
    return results;
  }
};

at::Tensor paste_autograd(const at::Tensor& im1, const at::Tensor& im2, c10::SymIntArrayRef coord) {
  if (is_differentiated(im1, im2)) return Paste::apply(im1, im2, coord);
  const at::AutoDispatchBelowADInplaceOrView below;
  return opgate_ops::paste(im1, im2, coord);
}

}  // namespace
}  // namespace opgate_ops

TORCH_LIBRARY_IMPL(opgate_ops, Autograd, m) { m.impl("paste", &opgate_ops::paste_autograd); }
