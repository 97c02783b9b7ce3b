// Sums on the CPU that are fast, accurate, and have the same bits on every machine and for any number of
// threads.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace opgate_ops {

// The number of sums that are added to in parallel. It fills four AVX-512 registers of float, because one
// addition takes as long as four loads.
inline constexpr int kLanes = 64;

/// The sum of the numbers: each half is added to the other, until one number is left. It is a recursion,
/// because a loop over the widths would keep them in memory.
template <int width, typename T>
inline T sum_in_pairs(const T (&numbers)[width]) {
  if constexpr (width == 1) {
    return numbers[0];
  } else {
    T halves[width / 2];
    for (int i = 0; i < width / 2; ++i) halves[i] = numbers[i] + numbers[i + width / 2];
    return sum_in_pairs(halves);
  }
}

/// n sums over 0 ... count - 1 at once, where terms(i) is a std::array of n numbers of type T. The order is
/// fixed: kLanes / n running sums over at most 64 terms each are added in pairs, and then in double. Call
/// it inside a function that is OPGATE_OPS_MULTIVERSION.
template <typename T, int n, class Terms>
inline std::array<double, n> sums_of(int64_t count, const Terms& terms) {
  constexpr int lanes = kLanes / n;
  std::array<double, n> totals{};
  for (int64_t begin = 0; begin < count; begin += 64 * lanes) {
    const int64_t end = std::min(begin + 64 * lanes, count);
    T running[n][lanes] = {};
    const auto add = [&](int lane, const std::array<T, n>& term) {
      for (int k = 0; k < n; ++k) running[k][lane] += term[k];
    };
    int64_t i = begin;
    for (; i + lanes <= end; i += lanes)
      for (int lane = 0; lane < lanes; ++lane) add(lane, terms(i + lane));
    for (int lane = 0; i < end; ++i, ++lane) add(lane, terms(i));
    for (int k = 0; k < n; ++k) totals[k] += sum_in_pairs(running[k]);
  }
  return totals;
}

/// The sum of term(0) ... term(count - 1).
template <typename T, class Term>
inline double sum_of(int64_t count, const Term& term) {
  return sums_of<T, 1>(count, [&](int64_t i) { return std::array<T, 1>{static_cast<T>(term(i))}; })[0];
}

}  // namespace opgate_ops
