#include "layouts/geometry.h"

#include <c10/util/accumulate.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace opgate {

int64_t Geometry::numel() const { return c10::multiply_integers(sizes); }

bool Geometry::is_contiguous() const {
  if (offset != 0) return false;
  const std::vector<int64_t> dense = dense_strides(sizes);
  for (size_t dim = 0; dim < sizes.size(); ++dim) {
    if (sizes[dim] > 1 && strides[dim] != dense[dim]) return false;
  }
  return true;
}

bool Geometry::overlaps() const {
  if (numel() == 0) return false;
  std::vector<std::pair<int64_t, int64_t>> steps;  // stride and size
  for (size_t dim = 0; dim < sizes.size(); ++dim) {
    if (sizes[dim] > 1) steps.emplace_back(strides[dim], sizes[dim]);
  }
  std::ranges::sort(steps);
  int64_t last = 0;  // the farthest element that the dims so far reach
  for (const auto& [stride, size] : steps) {
    if (stride <= last) return true;
    last += stride * (size - 1);
  }
  return false;
}

int64_t Geometry::storage_element(int64_t linear) const {
  int64_t element = offset;
  for (size_t dim = sizes.size(); dim-- > 0;) {
    element += linear % sizes[dim] * strides[dim];
    linear /= sizes[dim];
  }
  return element;
}

std::vector<int64_t> dense_strides(c10::IntArrayRef sizes) {
  std::vector<int64_t> strides(sizes.size());
  int64_t step = 1;
  for (size_t dim = sizes.size(); dim-- > 0;) {
    strides[dim] = step;
    step *= std::max<int64_t>(sizes[dim], 1);
  }
  return strides;
}

Geometry geometry(std::vector<int64_t> sizes, std::vector<int64_t> strides, int64_t offset, int64_t tail) {
  int64_t last = offset;
  for (size_t dim = 0; dim < sizes.size(); ++dim) last += (sizes[dim] - 1) * strides[dim];
  const bool empty = c10::multiply_integers(sizes) == 0;
  const int64_t elements = (empty ? offset : last + 1) + tail;
  return {std::move(sizes), std::move(strides), offset, elements};
}

std::vector<int64_t> unravel(int64_t linear, c10::IntArrayRef sizes) {
  std::vector<int64_t> index(sizes.size());
  for (size_t dim = sizes.size(); dim-- > 0;) {
    index[dim] = linear % sizes[dim];
    linear /= sizes[dim];
  }
  return index;
}

std::string index_text(c10::IntArrayRef index) { return fmt::format("[{}]", fmt::join(index, ", ")); }

std::string describe_element(const Geometry& geometry, int64_t element, const std::string& name) {
  if (element < 0) return fmt::format("{} elements before the storage of {}", -element, name);
  if (element >= geometry.elements) {
    return fmt::format("{} elements past the end of the storage of {}", element - geometry.elements + 1,
                       name);
  }
  int64_t nearest = -1;  // the view's last element at or before `element`, in storage order
  int64_t nearest_linear = 0;
  for (int64_t linear = 0; linear < geometry.numel(); ++linear) {
    const int64_t candidate = geometry.storage_element(linear);
    if (candidate <= element && candidate > nearest) {
      nearest = candidate;
      nearest_linear = linear;
    }
  }
  if (nearest < 0) return fmt::format("the gap before {}'s first element", name);
  const std::string index = index_text(unravel(nearest_linear, geometry.sizes));
  return nearest == element ? name + index : fmt::format("the gap after {}{}", name, index);
}

}  // namespace opgate
