// The schema of matmul, and the C++ function that calls it.
#include <torch/library.h>

#include "../common/dispatched.h"
#include "matmul.h"

TORCH_LIBRARY_FRAGMENT(opgate_ops, m) {
  m.def("matmul(Tensor a, Tensor b) -> Tensor", {at::Tag::pt2_compliant_tag});
}

namespace opgate_ops {

at::Tensor matmul(const at::Tensor& a, const at::Tensor& b) {
  static const auto op = dispatched<at::Tensor(const at::Tensor&, const at::Tensor&)>("opgate_ops::matmul");
  return op.call(a, b);
}

}  // namespace opgate_ops
