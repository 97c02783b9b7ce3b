// add on CUDA.
#include <ATen/Dispatch.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/library.h>

#include "../common/elementwise.cuh"
#include "add.h"

namespace opgate_ops {
namespace {

at::Tensor add_tensor_cuda(const at::Tensor& x, const at::Tensor& other) {
  // One of them may be a number on the CPU.
  const c10::cuda::CUDAGuard device_guard(x.is_cuda() ? x.device() : other.device());
  at::Tensor out = empty_sum(x, other);
  if (out.numel() == 0) return out;
  const at::ScalarType dtype = out.scalar_type();

  AT_DISPATCH_ALL_TYPES_AND3(at::kBool, at::kHalf, at::kBFloat16, dtype, "add",
                             [&] { elementwise_cuda<scalar_t>(out, Plus(), x.to(dtype), other.to(dtype)); });
  return out;
}

at::Tensor add_scalar_cuda(const at::Tensor& x, const at::Scalar& other) {
  const c10::cuda::CUDAGuard device_guard(x.device());
  at::Tensor out = empty_sum(x, other);
  if (out.numel() == 0) return out;
  const at::ScalarType dtype = out.scalar_type();

  AT_DISPATCH_ALL_TYPES_AND3(at::kBool, at::kHalf, at::kBFloat16, dtype, "add", [&] {
    using opmath_t = at::opmath_type<scalar_t>;
    elementwise_cuda<scalar_t>(out, PlusNumber<opmath_t>{other.to<opmath_t>()}, x.to(dtype));
  });
  return out;
}

}  // namespace
}  // namespace opgate_ops

TORCH_LIBRARY_IMPL(opgate_ops, CUDA, m) {
  m.impl("add.Tensor", &opgate_ops::add_tensor_cuda);
  m.impl("add.Scalar", &opgate_ops::add_scalar_cuda);
}
