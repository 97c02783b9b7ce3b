// crop on CUDA.
#include <c10/cuda/CUDAGuard.h>
#include <torch/library.h>

#include "../common/copy.h"
#include "../common/elementwise.cuh"
#include "crop.h"

namespace opgate_ops {
namespace {

at::Tensor crop_cuda(const at::Tensor& pic, c10::SymIntArrayRef box) {
  const Box pixels = check_crop(pic, box);
  const c10::cuda::CUDAGuard device_guard(pic.device());
  at::Tensor out = empty_image(pic.size(0), pixels.height(), pixels.width(), pic.options());
  if (out.numel() == 0) return out;
  const at::Tensor from =
      part(pic, pixels.left.expect_int(), pixels.upper.expect_int(), out.size(2), out.size(1));
  with_element_of(pic.scalar_type(),
                  [&](auto element) { elementwise_cuda<decltype(element)>(out, Same(), from); });
  return out;
}

}  // namespace
}  // namespace opgate_ops

TORCH_LIBRARY_IMPL(opgate_ops, CUDA, m) { m.impl("crop", &opgate_ops::crop_cuda); }
