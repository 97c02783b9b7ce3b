// What the kernels of paste share: the checks of their arguments.
#pragma once

#include "../common/image.h"

namespace opgate_ops {

/// Calls the operator through the dispatcher. It returns a new image whose memory is [H, W, C]: im1 [C, H,
/// W], in which im2 [C, h, w] replaces the pixels from coord = (left, upper) on, bit for bit. Both are
/// Half, BFloat16, Float, Double or UInt8, of the same dtype and device, with any strides. Throws
/// c10::Error if im2 would leave im1.
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
