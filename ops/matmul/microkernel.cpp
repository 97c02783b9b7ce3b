// One loop for all instruction sets, written with the compiler's vector types. The size of the tile is what
// the registers of each instruction set hold.
#include "microkernel.h"

namespace opgate_ops {
namespace {

template <typename T, int rows, int vectors, int bytes>
[[gnu::always_inline]] inline void multiply(int64_t depth, const T* a, const T* b, const Tile<T>& tile) {
  typedef T Vector __attribute__((vector_size(bytes), may_alias));
  typedef T Unaligned __attribute__((vector_size(bytes), may_alias, aligned(sizeof(T))));
  constexpr int lanes = bytes / sizeof(T);
  static_assert(rows * vectors * lanes <= kMostOfTile);
  // The tile is read from memory while the products are computed.
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) __builtin_prefetch(tile.data + i * tile.stride + v * lanes, 1);
  }
  Vector sums[rows][vectors] = {};
  for (int64_t k = 0; k < depth; ++k, a += rows, b += vectors * lanes) {
    Vector right[vectors];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) right[v] = reinterpret_cast<const Vector*>(b)[v];
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) sums[i][v] += a[i] * right[v];
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) {
      Unaligned& to = reinterpret_cast<Unaligned*>(tile.data + i * tile.stride)[v];
      to = tile.first ? sums[i][v] : to + sums[i][v];
    }
  }
}

#if defined(__x86_64__)
// The sums take 24 of the 32 registers of 64 bytes, or 12 of the 16 registers of 32 bytes.
template <typename T>
[[gnu::target("avx512f,avx512vl,avx512dq,fma,avx2")]] void multiply_avx512(int64_t depth, const T* a,
                                                                           const T* b, const Tile<T>& tile) {
  multiply<T, 12, 2, 64>(depth, a, b, tile);
}
template <typename T>
[[gnu::target("avx2,fma")]] void multiply_avx2(int64_t depth, const T* a, const T* b, const Tile<T>& tile) {
  multiply<T, 6, 2, 32>(depth, a, b, tile);
}
#endif
template <typename T>
void multiply_any(int64_t depth, const T* a, const T* b, const Tile<T>& tile) {
  multiply<T, 4, 2, 16>(depth, a, b, tile);
}

template <typename T>
Microkernel<T> choose() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq"))
    return {12, 2 * 64 / sizeof(T), multiply_avx512<T>};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return {6, 2 * 32 / sizeof(T), multiply_avx2<T>};
#endif
  return {4, 2 * 16 / sizeof(T), multiply_any<T>};
}

}  // namespace

template <typename T>
const Microkernel<T>& microkernel() {
  static const Microkernel<T> chosen = choose<T>();
  return chosen;
}

template const Microkernel<float>& microkernel<float>();
template const Microkernel<double>& microkernel<double>();

}  // namespace opgate_ops
