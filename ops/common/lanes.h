// Sums on the CPU that are fast, accurate, and have the same bits on every machine and for any number of
// threads.
#pragma once

#include <algorithm>
#include <cstdint>

namespace opgate_ops {

// Numbers that are added side by side: four AVX-512 registers of float, because one addition takes as long as
// four loads.
inline constexpr int kLanes = 64;

/// The sum of term(0) ... term(count - 1), of type T, in a fixed order: kLanes running sums over at most 4096
/// terms, so that each rounds 64 times, then pairs of them, then in double. For use inside a function that is
/// OPGATE_OPS_MULTIVERSION.
template <typename T, class Term>
inline double sum_of(int64_t count, const Term& term) {
  double total = 0;
  for (int64_t begin = 0; begin < count; begin += 64 * kLanes) {
    const int64_t end = std::min(begin + 64 * kLanes, count);
    T lanes[kLanes] = {};
    int64_t i = begin;
    for (; i + kLanes <= end; i += kLanes)
      for (int lane = 0; lane < kLanes; ++lane) lanes[lane] += term(i + lane);
    for (int lane = 0; i < end; ++i, ++lane) lanes[lane] += term(i);
    for (int width = kLanes / 2; width > 0; width /= 2)
      for (int lane = 0; lane < width; ++lane) lanes[lane] += lanes[lane + width];
    total += lanes[0];
  }
  return total;
}

}  // namespace opgate_ops
