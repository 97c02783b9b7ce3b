// add without data.
#include <torch/library.h>

#include "add.h"

namespace opgate_ops {
namespace {

at::Tensor add_tensor_meta(const at::Tensor& x, const at::Tensor& other) {
  check_add(x, other);
  return empty_sum(x, broadcast_sizes(x, other), at::result_type(x, other));
}

at::Tensor add_scalar_meta(const at::Tensor& x, const at::Scalar& other) {
  check_add_dtype("x", x.scalar_type());
  const at::ScalarType dtype = at::result_type(x, other);
  check_add_dtype("the sum", dtype);
  return at::empty_like(x, x.options().dtype(dtype));
}

}  // namespace
}  // namespace opgate_ops

TORCH_LIBRARY_IMPL(opgate_ops, Meta, m) {
  m.impl("add.Tensor", &opgate_ops::add_tensor_meta);
  m.impl("add.Scalar", &opgate_ops::add_scalar_meta);
}
