// paste on CUDA.
#include <c10/cuda/CUDAGuard.h>
#include <torch/library.h>

#include "../common/copy.h"
#include "../common/elementwise.cuh"
#include "paste.h"

namespace opgate_ops {
namespace {

at::Tensor paste_cuda(const at::Tensor& im1, const at::Tensor& im2, c10::SymIntArrayRef coord) {
  const Box pixels = check_paste(im1, im2, coord);
  const c10::cuda::CUDAGuard device_guard(im1.device());
  at::Tensor out = empty_image(im1.size(0), im1.size(1), im1.size(2), im1.options());
  if (out.numel() == 0) return out;
  at::Tensor to = part(out, pixels.left.expect_int(), pixels.upper.expect_int(), im2.size(2), im2.size(1));
  with_element_of(im1.scalar_type(), [&](auto element) {
    elementwise_cuda<decltype(element)>(out, Same(), im1);
    if (to.numel() > 0) elementwise_cuda<decltype(element)>(to, Same(), im2);
  });
  return out;
}

}  // namespace
}  // namespace opgate_ops

TORCH_LIBRARY_IMPL(opgate_ops, CUDA, m) { m.impl("paste", &opgate_ops::paste_cuda); }
