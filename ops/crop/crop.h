// What the kernels of crop share.
#pragma once

#include "../common/image.h"

namespace opgate_ops {

/// Calls the operator through the dispatcher. It copies the pixels of pic [C, H, W] in box = (left, upper,
/// right, lower), bit for bit, to a new image [C, lower - upper, right - left] whose memory is [H, W, C].
/// pic is Half, BFloat16, Float, Double or UInt8, with any strides. Throws c10::Error if the box leaves pic
/// or is inverted.
at::Tensor crop(const at::Tensor& pic, c10::SymIntArrayRef box);

inline Box check_crop(const at::Tensor& pic, c10::SymIntArrayRef box) {
  const Named image{"crop", "pic", pic};
  check_image(image);
  TORCH_CHECK(box.size() == 4, "crop: box must be (left, upper, right, lower), got ", box.size(), " numbers");
  const Box pixels{box[0], box[1], box[2], box[3]};
  pixels.check_inside(image);
  return pixels;
}

}  // namespace opgate_ops
