// What the kernels of paste share.
#pragma once

#include "../common/image.h"

namespace opgate_ops {

/// The operator, through the dispatcher: im1 [C, H, W] with im2 [C, h, w] in place of its pixels from coord =
/// (left, upper) on, bit for bit, as an image of its own whose memory is [H, W, C]. Both are Half, BFloat16,
/// Float, Double or UInt8, alike in dtype and device, with any strides. Throws c10::Error where im2 would
/// leave im1.
at::Tensor paste(const at::Tensor& im1, const at::Tensor& im2, c10::SymIntArrayRef coord);

inline Box check_paste(const at::Tensor& im1, const at::Tensor& im2, c10::SymIntArrayRef coord) {
  const Named base{"paste", "im1", im1}, patch{"paste", "im2", im2};
  check_image(base);
  check_image(patch);
  check_like(patch, base);
  check_size(patch, 0, im1.sym_size(0), "the number of channels of im1");
  TORCH_CHECK(coord.size() == 2, "paste: coord must be (left, upper), got ", coord.size(), " numbers");
  const Box pixels{coord[0], coord[1], coord[0] + im2.sym_size(2), coord[1] + im2.sym_size(1)};
  pixels.check_inside(base);
  return pixels;
}

}  // namespace opgate_ops
