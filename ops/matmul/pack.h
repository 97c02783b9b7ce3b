// Packing for the matrix product on the CPU: the innermost loop reads memory in order.
#pragma once

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace opgate_ops {

/// A matrix with any strides: element [i, j] is data[i * row_stride + j * column_stride].
template <typename scalar_t>
struct Strided {
  const scalar_t* data;
  int64_t row_stride, column_stride;

  explicit Strided(const at::Tensor& matrix, bool transposed)
      : data(matrix.const_data_ptr<scalar_t>()),
        row_stride(matrix.stride(transposed ? 1 : 0)),
        column_stride(matrix.stride(transposed ? 0 : 1)) {}
};

/// The numbers in a vector of 16 bytes, which every x86-64 has.
template <typename T>
inline constexpr int64_t kVectorLanes = 16 / sizeof(T);

/// Transposes a square of kVectorLanes by kVectorLanes numbers:
/// to[k * to_stride + j] = from[j * from_stride + k].
template <typename T>
inline void transpose_square(const T* from, int64_t from_stride, T* to, int64_t to_stride) {
  typedef T Vector __attribute__((vector_size(16), may_alias, aligned(sizeof(T))));
  const auto in = [&](int64_t j) { return *reinterpret_cast<const Vector*>(from + j * from_stride); };
  const auto out = [&](int64_t k) -> Vector& { return *reinterpret_cast<Vector*>(to + k * to_stride); };
  if constexpr (kVectorLanes<T> == 4) {
    const Vector a = in(0), b = in(1), c = in(2), d = in(3);
    const Vector ab = __builtin_shufflevector(a, b, 0, 4, 1, 5),
                 cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
    out(0) = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
    out(1) = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
    const Vector ef = __builtin_shufflevector(a, b, 2, 6, 3, 7),
                 gh = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    out(2) = __builtin_shufflevector(ef, gh, 0, 1, 4, 5);
    out(3) = __builtin_shufflevector(ef, gh, 2, 3, 6, 7);
  } else {
    const Vector a = in(0), b = in(1);
    out(0) = __builtin_shufflevector(a, b, 0, 2);
    out(1) = __builtin_shufflevector(a, b, 1, 3);
  }
}

/// Transposes `columns` columns of `depth` numbers that lie in order: to[k * width + j] = from[j *
/// from_stride + k].
template <typename scalar_t, typename acc_t>
inline void pack_transposed(const scalar_t* from, int64_t from_stride, int64_t columns, int64_t depth,
                            int64_t width, acc_t* to) {
  int64_t j = 0;
  if constexpr (std::is_same_v<scalar_t, acc_t>) {
    constexpr int64_t lanes = kVectorLanes<acc_t>;
    for (; j + lanes <= columns; j += lanes) {
      const acc_t* corner = from + j * from_stride;
      int64_t k = 0;
      for (; k + lanes <= depth; k += lanes)
        transpose_square(corner + k, from_stride, to + k * width + j, width);
      for (; k < depth; ++k) {
        for (int64_t l = 0; l < lanes; ++l) to[k * width + j + l] = corner[l * from_stride + k];
      }
    }
  }
  for (; j < columns; ++j) {
    for (int64_t k = 0; k < depth; ++k) to[k * width + j] = static_cast<acc_t>(from[j * from_stride + k]);
  }
}

/// Packs columns [begin, end) of `depth` rows into panels of `width` columns. Panel p has element [k, j] at p
/// * width * depth + k * width + j. Columns beyond `end` are 0. A is packed by rows, as if it were
/// transposed.
template <typename scalar_t, typename acc_t>
void pack(const Strided<scalar_t>& from, int64_t first_row, int64_t depth, int64_t begin, int64_t end,
          int64_t width, acc_t* to) {
  for (int64_t j0 = begin; j0 < end; j0 += width, to += width * depth) {
    const int64_t columns = std::min(width, end - j0);
    const scalar_t* corner = from.data + first_row * from.row_stride + j0 * from.column_stride;
    if (columns < width) std::fill_n(to, width * depth, acc_t(0));
    if (from.row_stride == 1) {
      pack_transposed(corner, from.column_stride, columns, depth, width, to);
    } else if (from.column_stride == 1) {
      for (int64_t k = 0; k < depth; ++k) std::copy_n(corner + k * from.row_stride, columns, to + k * width);
    } else {
      for (int64_t k = 0; k < depth; ++k) {
        for (int64_t j = 0; j < columns; ++j)
          to[k * width + j] = static_cast<acc_t>(corner[k * from.row_stride + j * from.column_stride]);
      }
    }
  }
}

}  // namespace opgate_ops
