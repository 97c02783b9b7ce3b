// The schemas of add, and the C++ functions that call it.
#include <torch/library.h>

#include "../common/dispatched.h"
#include "add.h"

TORCH_LIBRARY_FRAGMENT(opgate_ops, m) {
  m.def("add.Tensor(Tensor x, Tensor other) -> Tensor", {at::Tag::pt2_compliant_tag});
  m.def("add.Scalar(Tensor x, Scalar other) -> Tensor", {at::Tag::pt2_compliant_tag});
}

namespace opgate_ops {

at::Tensor add(const at::Tensor& x, const at::Tensor& other) {
  static const auto op =
      dispatched<at::Tensor(const at::Tensor&, const at::Tensor&)>("opgate_ops::add", "Tensor");
  return op.call(x, other);
}

at::Tensor add(const at::Tensor& x, const at::Scalar& other) {
  static const auto op =
      dispatched<at::Tensor(const at::Tensor&, const at::Scalar&)>("opgate_ops::add", "Scalar");
  return op.call(x, other);
}

}  // namespace opgate_ops
