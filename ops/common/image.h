// What crop and paste share: images as PIL makes them, and where a box lies in one.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <c10/core/SymBool.h>
#include <c10/util/Exception.h>

#include "checks.h"

namespace opgate_ops {

/// Half, BFloat16, Float, Double or UInt8, [C, H, W].
inline void check_image(const Named& image) {
  const at::ScalarType dtype = image.tensor.scalar_type();
  TORCH_CHECK(image.tensor.defined(), image.op, ": ", image.name, " is undefined");
  TORCH_CHECK(dtype == at::kHalf || dtype == at::kBFloat16 || dtype == at::kFloat || dtype == at::kDouble ||
                  dtype == at::kByte,
              image.op, ": ", image.name, " must be Half, BFloat16, Float, Double or Byte, got ", dtype);
  TORCH_CHECK(image.tensor.dim() == 3, image.op, ": ", image.name, " must be an image [C, H, W], got ",
              image.tensor.dim(), " dimensions");
}

/// A rectangle of pixels, left <= x < right and upper <= y < lower: the box of PIL.
struct Box {
  c10::SymInt left, upper, right, lower;

  c10::SymInt width() const { return right - left; }
  c10::SymInt height() const { return lower - upper; }

  /// Throws c10::Error where the box is inverted or leaves the image; one without pixels is allowed.
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

/// An image whose channels lie together in memory, [H, W, C] seen as [C, H, W]: what PIL's images become.
inline at::Tensor empty_image(const c10::SymInt& channels, const c10::SymInt& height,
                              const c10::SymInt& width, const at::TensorOptions& options) {
  return at::empty_symint({height, width, channels}, options).permute({2, 0, 1});
}

/// The view of those pixels.
inline at::Tensor part(const at::Tensor& image, int64_t left, int64_t upper, int64_t width, int64_t height) {
  return image.narrow(1, upper, height).narrow(2, left, width);
}

/// Gives back what it gets: for elementwise kernels that copy.
struct Same {
  template <typename T>
  C10_HOST_DEVICE T operator()(T value) const {
    return value;
  }
};

/// Calls copy(element) with an unsigned integer of the dtype's size: elements are moved as they are, and a
/// NaN keeps its payload.
template <class Copy>
void with_element_of(at::ScalarType dtype, const Copy& copy) {
  switch (c10::elementSize(dtype)) {
    case 1:
      return copy(uint8_t{});
    case 2:
      return copy(uint16_t{});
    case 4:
      return copy(uint32_t{});
    default:
      return copy(uint64_t{});
  }
}

}  // namespace opgate_ops
