// The schema of crop, and the C++ function that calls it.
#include <torch/library.h>

#include "../common/dispatched.h"
#include "crop.h"

TORCH_LIBRARY_FRAGMENT(opgate_ops, m) {
  m.def("crop(Tensor pic, SymInt[] box) -> Tensor", {at::Tag::pt2_compliant_tag});
}

namespace opgate_ops {

at::Tensor crop(const at::Tensor& pic, c10::SymIntArrayRef box) {
  static const auto op = dispatched<at::Tensor(const at::Tensor&, c10::SymIntArrayRef)>("opgate_ops::crop");
  return op.call(pic, box);
}

}  // namespace opgate_ops
