// The innermost loop of the matrix product on the CPU.
#pragma once

#include <cstdint>

namespace opgate_ops {

/// Where the sums of a tile go: element [i, j] is data[i * stride + j]. They are added to what is there, or
/// written if `first`.
template <typename T>
struct Tile {
  T* data;
  int64_t stride;
  bool first;
};

/// Multiplies a tile: `rows` x depth of packed A (a[k * rows + i]) by depth x `columns` of packed B (b[k *
/// columns + j]), whose address is a multiple of 64. Each sum runs over k upwards, so that it does not depend
/// on the tile's place.
template <typename T>
struct Microkernel {
  int rows, columns;
  void (*multiply)(int64_t depth, const T* a, const T* b, const Tile<T>& tile);
};

// No tile has more elements.
inline constexpr int kMostOfTile = 12 * 32;

/// The best microkernel for the instruction set of this machine.
template <typename T>
const Microkernel<T>& microkernel();

extern template const Microkernel<float>& microkernel<float>();
extern template const Microkernel<double>& microkernel<double>();

}  // namespace opgate_ops
