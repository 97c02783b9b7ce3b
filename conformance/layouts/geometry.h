// How a tensor's values lie in its storage: sizes, strides, offset, and the size of the whole storage with
// its gaps.
#pragma once

#include <c10/util/ArrayRef.h>

#include <cstdint>
#include <string>
#include <vector>

namespace opgate {

struct Geometry {
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;  ///< in elements
  int64_t offset = 0;            ///< storage offset, in elements
  int64_t elements = 0;          ///< size of the storage, with the gaps before, between and after the values

  bool operator==(const Geometry&) const = default;

  int64_t numel() const;
  /// True if several positions may share one element: along some dim, a step is not longer than what the
  /// dims of smaller strides cover.
  bool overlaps() const;
  /// True for row-major strides and no offset. The stride of a dim of size 0 or 1 does not count.
  bool is_contiguous() const;
  /// The storage element that holds the value at row-major position `linear`.
  int64_t storage_element(int64_t linear) const;
};

/// Row-major strides; a dimension of size 0 counts as 1, as in torch.
std::vector<int64_t> dense_strides(c10::IntArrayRef sizes);

/// A geometry over `sizes` and `strides` whose storage ends with the last element, plus `tail` elements.
Geometry geometry(std::vector<int64_t> sizes, std::vector<int64_t> strides, int64_t offset = 0,
                  int64_t tail = 0);

/// The index of row-major position `linear`.
std::vector<int64_t> unravel(int64_t linear, c10::IntArrayRef sizes);

/// "[0, 0, 1]"
std::string index_text(c10::IntArrayRef index);

/// Names a storage element for a reader: "x[0, 1]", "the gap after x[0, 0]", "2 elements past the end of
/// the storage of x". `name` is the tensor's name.
std::string describe_element(const Geometry& geometry, int64_t element, const std::string& name);

}  // namespace opgate
