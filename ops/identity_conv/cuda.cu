// identity_conv on CUDA.
//
// The host code of every operator here has the same order: checks, device guard, allocation, early return
// for empty tensors, launch on the current stream, launch check. It uses only c10's CUDA headers, so that
// the library links without libtorch_cuda.
#include <ATen/ops/empty_like.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/library.h>

#include "../common/checks.h"
#include "../common/copy.h"
#include "../common/elementwise.cuh"

namespace opgate_ops {
namespace {

at::Tensor identity_conv_cuda(const at::Tensor& x) {
  check_floating({"identity_conv", "x", x});
  const c10::cuda::CUDAGuard device_guard(x.device());
  at::Tensor out = at::empty_like(x);
  if (out.numel() == 0) return out;
  with_element_of(x.scalar_type(),
                  [&](auto element) { elementwise_cuda<decltype(element)>(out, Same(), x); });
  return out;
}

}  // namespace
}  // namespace opgate_ops

TORCH_LIBRARY_IMPL(opgate_ops, CUDA, m) { m.impl("identity_conv", &opgate_ops::identity_conv_cuda); }
