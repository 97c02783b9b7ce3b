// The schema of sin_out, and the C++ function that calls it. (a!) says that output is written.
#include <torch/library.h>

#include "../common/dispatched.h"
#include "sin_out.h"

TORCH_LIBRARY_FRAGMENT(opgate_ops, m) {
  m.def("sin_out(Tensor input, Tensor(a!) output) -> ()", {at::Tag::pt2_compliant_tag});
}

namespace opgate_ops {

void sin_out(const at::Tensor& input, const at::Tensor& output) {
  static const auto op = dispatched<void(const at::Tensor&, const at::Tensor&)>("opgate_ops::sin_out");
  op.call(input, output);
}

}  // namespace opgate_ops
