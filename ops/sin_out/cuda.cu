// sin_out on CUDA.
#include <ATen/Dispatch.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/library.h>

#include "../common/elementwise.cuh"
#include "sin_out.h"

namespace opgate_ops {
namespace {

void sin_out_cuda(const at::Tensor& input, const at::Tensor& output) {
  check_sin_out(input, output);
  at::assert_no_internal_overlap(output);
  if (output.numel() == 0) return;
  const c10::cuda::CUDAGuard device_guard(input.device());
  const at::Tensor from = input.is_alias_of(output) ? input.clone() : input;
  at::Tensor to = output;
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, input.scalar_type(), "sin_out",
                                  [&] { elementwise_cuda<scalar_t>(to, Sine(), from); });
}

}  // namespace
}  // namespace opgate_ops

TORCH_LIBRARY_IMPL(opgate_ops, CUDA, m) { m.impl("sin_out", &opgate_ops::sin_out_cuda); }
