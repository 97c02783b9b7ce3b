#include "call/meta_call.h"

#include <ATen/ops/_neg_view.h>
#include <ATen/ops/empty_strided.h>

namespace opgate {
namespace {

at::Tensor meta_like(const TensorInput& input) {
  at::Tensor meta =
      at::empty_strided({input.geometry.elements}, {1}, input.tensor.options().device(c10::kMeta));
  meta.unsafeGetTensorImpl()->set_sizes_and_strides(input.geometry.sizes, input.geometry.strides,
                                                    input.geometry.offset);
  if (input.tensor.is_conj()) meta = meta.conj();
  return input.tensor.is_neg() ? at::_neg_view(meta) : meta;
}

}  // namespace

Arguments on_meta(const Arguments& real) {
  Arguments arguments = real;
  for (TensorInput& input : arguments.tensors) {
    input.tensor = meta_like(input);
    arguments.replace(input, input.tensor);
  }
  return arguments;
}

Outcome call_on_meta(const c10::OperatorHandle& op, const Arguments& real) {
  return invoke(op, on_meta(real).stack, c10::kMeta);
}

}  // namespace opgate
