// add on the CPU.
#include <ATen/Dispatch.h>
#include <ATen/ScalarOps.h>
#include <torch/library.h>

#include "../common/elementwise.h"
#include "add.h"

namespace opgate_ops {
namespace {

at::Tensor add_tensor_cpu(const at::Tensor& x, const at::Tensor& other) {
  at::Tensor out = empty_sum(x, other);
  const at::ScalarType dtype = out.scalar_type();

  AT_DISPATCH_ALL_TYPES_AND3(at::kBool, at::kHalf, at::kBFloat16, dtype, "add",
                             [&] { elementwise<scalar_t>(out, Plus(), x, other); });
  return out;
}

at::Tensor add_scalar_cpu(const at::Tensor& x, const at::Scalar& other) {
  at::Tensor out = empty_sum(x, other);
  const at::ScalarType dtype = out.scalar_type();
  // A number of another kind, such as 1.5 beside integers, takes part in the promotion as a tensor of no
  // dimensions.
  if (x.scalar_type() != dtype) return add_tensor_cpu(x, at::native::wrapped_scalar_tensor(other));

  AT_DISPATCH_ALL_TYPES_AND3(at::kBool, at::kHalf, at::kBFloat16, dtype, "add", [&] {
    using opmath_t = at::opmath_type<scalar_t>;
    elementwise<scalar_t>(out, PlusNumber<opmath_t>{other.to<opmath_t>()}, x);
  });
  return out;
}

}  // namespace
}  // namespace opgate_ops

TORCH_LIBRARY_IMPL(opgate_ops, CPU, m) {
  m.impl("add.Tensor", &opgate_ops::add_tensor_cpu);
  m.impl("add.Scalar", &opgate_ops::add_scalar_cpu);
}
