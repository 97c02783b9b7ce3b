// What crop and paste share: images as PIL makes them, and where a box lies in one.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_strided.h>
#include <c10/core/SymBool.h>
#include <c10/util/Exception.h>

#include "checks.h"

namespace opgate_ops {

/// Checks that the image is Half, BFloat16, Float, Double or UInt8, and has the dimensions [C, H, W].
inline void check_image(const Named& image) {
  check_defined(image);
  const at::ScalarType dtype = image.tensor.scalar_type();
  TORCH_CHECK(is_floating(dtype) || dtype == at::kByte, image.op, ": ", image.name,
              " must be Half, BFloat16, Float, Double or Byte, got ", dtype);
  TORCH_CHECK(image.tensor.dim() == 3, image.op, ": ", image.name, " must be an image [C, H, W], got ",
              image.tensor.dim(), " dimensions");
}

/// A rectangle of pixels, left <= x < right and upper <= y < lower, as in PIL.
struct Box {
  c10::SymInt left, upper, right, lower;

  c10::SymInt width() const { return right - left; }
  c10::SymInt height() const { return lower - upper; }

  /// Throws c10::Error if the box is inverted or leaves the image; an empty box is allowed.
  void check_inside(const Named& image) const {
    const c10::SymInt rows = image.tensor.sym_size(1), columns = image.tensor.sym_size(2);
    TORCH_SYM_CHECK(left.sym_le(right).sym_and(upper.sym_le(lower)), image.op, ": the box (left ", left,
                    ", upper ", upper, ", right ", right, ", lower ", lower, ") is inverted");
    TORCH_SYM_CHECK(
        left.sym_ge(0).sym_and(upper.sym_ge(0)).sym_and(right.sym_le(columns)).sym_and(lower.sym_le(rows)),
        image.op, ": the box (left ", left, ", upper ", upper, ", right ", right, ", lower ", lower,
        ") leaves ", image.name, ", which is ", columns, " wide and ", rows, " high");
  }
};

/// An uninitialised image [C, H, W] whose memory is [H, W, C], as that of PIL's images. It is not made with
/// permute(), which reads sizes as numbers and would fix a traced program to the sizes of its example.
inline at::Tensor empty_image(const c10::SymInt& channels, const c10::SymInt& height,
                              const c10::SymInt& width, const at::TensorOptions& options) {
  const c10::SymInt pixel = channels.max(1);  // so that empty images have the strides that at::empty gives
  return at::empty_strided_symint({channels, height, width}, {1, pixel * width.max(1), pixel}, options);
}

/// A view of the pixels in this rectangle.
inline at::Tensor part(const at::Tensor& image, int64_t left, int64_t upper, int64_t width, int64_t height) {
  return image.narrow(1, upper, height).narrow(2, left, width);
}

}  // namespace opgate_ops
