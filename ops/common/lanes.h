// Sums on the CPU that are fast, accurate, and have the same bits on every machine and for any number of
// threads.
#pragma once

#include <algorithm>
#include <cstdint>

namespace opgate_ops {

inline constexpr int kLanes = 16;  // numbers that are added side by side: one AVX-512 register of float

/// The sum of term(0) ... term(count - 1), of type T, in a fixed order: kLanes running sums over at most 1024
/// terms, so that each rounds 64 times, then in double. For use inside a function that is
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
    for (const T lane : lanes) total += lane;
  }
  return total;
}

}  // namespace opgate_ops
