// The schema of paste, and the C++ function that calls it.
#include <torch/library.h>

#include "../common/dispatched.h"
#include "paste.h"

TORCH_LIBRARY_FRAGMENT(opgate_ops, m) {
  m.def("paste(Tensor im1, Tensor im2, SymInt[] coord) -> Tensor", {at::Tag::pt2_compliant_tag});
}

namespace opgate_ops {

at::Tensor paste(const at::Tensor& im1, const at::Tensor& im2, c10::SymIntArrayRef coord) {
  using Signature = at::Tensor(const at::Tensor&, const at::Tensor&, c10::SymIntArrayRef);
  static const auto op = dispatched<Signature>("opgate_ops::paste");
  return op.call(im1, im2, coord);
}

}  // namespace opgate_ops
