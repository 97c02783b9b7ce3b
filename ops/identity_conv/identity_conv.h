// What the kernels of identity_conv share: the dtypes that they take, and the order in which they
// visit the elements.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/Exception.h>
#include <c10/util/SmallVector.h>

#include <algorithm>
#include <cstdint>

namespace opgate_ops {

// Every kernel starts with this, so that all devices take the same dtypes and say the same about
// the others.
inline void check_identity_conv_input(const at::Tensor& x) {
  const at::ScalarType dtype = x.scalar_type();
  TORCH_CHECK(dtype == at::kHalf || dtype == at::kBFloat16 || dtype == at::kFloat || dtype == at::kDouble,
              "identity_conv: x must be Half, BFloat16, Float or Double, got ", dtype);
}

// A dimension is kept only if its size is 2 or more, and the element count of a tensor fits in 63
// bits: 62 are enough for every tensor that has elements, however many dimensions it was given.
inline constexpr int kMaxKeptDims = 62;

// Where to read x when its elements are visited in the order in which they lie in the output's
// memory. A plain struct: a CUDA kernel takes it by value, so nothing is copied to the device and a
// CUDA graph can capture the launch.
struct ReadOrder {
  int64_t numel = 0;
  int dims = 0;                   // kept dimensions, 1 or more, the one that moves fastest first
  int64_t sizes[kMaxKeptDims];    // each 2 or more, except that a lone element has one of size 1
  int64_t strides[kMaxKeptDims];  // of x, in elements; 0 where x is expanded

  // True if x lies in memory exactly as the output does.
  bool is_flat() const { return dims == 1 && strides[0] == 1; }
};

// `out` is at::empty_like(x), which is always dense: its elements fill its memory without gaps or
// overlap, so the n-th element in memory order is out[n]. `x` may have any strides; it must have at
// least one element.
inline ReadOrder read_order(const at::Tensor& x, const at::Tensor& out) {
  TORCH_INTERNAL_ASSERT(x.numel() > 0 && out.is_non_overlapping_and_dense());
  c10::SmallVector<int64_t, 8> kept;
  for (int64_t dim = 0; dim < x.dim(); ++dim) {
    if (x.size(dim) > 1) {
      kept.push_back(dim);
    }
  }
  std::sort(kept.begin(), kept.end(), [&out](int64_t a, int64_t b) { return out.stride(a) < out.stride(b); });

  ReadOrder order;
  order.numel = x.numel();
  for (const int64_t dim : kept) {
    const int last = order.dims - 1;
    if (last >= 0 && x.stride(dim) == order.strides[last] * order.sizes[last]) {
      order.sizes[last] *= x.size(dim);  // it goes on where the last one ends: one longer dimension
    } else {
      order.sizes[order.dims] = x.size(dim);
      order.strides[order.dims] = x.stride(dim);
      ++order.dims;
    }
  }
  if (order.dims == 0) {
    order.dims = 1;
    order.sizes[0] = 1;
    order.strides[0] = 1;
  }
  return order;
}

}  // namespace opgate_ops
