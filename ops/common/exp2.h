// 2 to the power of a sum, computed with operations that every vector unit has.
#pragma once

#include <c10/macros/Macros.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace opgate_ops {

/// The sum of the terms k to `last` of the Taylor series of exp(f ln 2), ln(2)^k / k! f^k, divided by the
/// first of them. It is a recursion, because a loop inside the caller's loop would keep compilers from
/// vectorising.
template <int k, int last, typename T>
C10_HOST_DEVICE inline T exp2_series(T f) {
  constexpr double ln2 = 0.693147180559945309417;
  if constexpr (k == last)
    return T(1);
  else
    return std::fma(f * T(ln2 / (k + 1)), exp2_series<k + 1, last>(f), T(1));
}

/// 2^(hi + lo) within 1 ulp, for hi <= 0 and |lo| at most an ulp of hi. `lo` holds the rounding error of
/// the exponent, which a single number would lose: at 2^-100, half an ulp of the exponent is 35 ulps of the
/// result. NaN stays NaN.
///
/// The exponent is split into an integer n and f in [-1/2, 1/2]. Adding 1.5 * 2^(digits - 1) to it leaves n
/// in the low bits of the sum. The power of f is a Taylor series, whose first omitted term is below a tenth
/// of an ulp (Cody and Waite, Software Manual for the Elementary Functions, 1980, chapter 6).
template <typename T>
C10_HOST_DEVICE inline T exp2_of_sum(T hi, T lo) {
  using Bits = std::conditional_t<std::is_same_v<T, double>, int64_t, int32_t>;
  constexpr int mantissa = std::numeric_limits<T>::digits - 1;
  constexpr Bits bias = std::numeric_limits<T>::max_exponent - 1;
  constexpr T shifter = T(1.5) * T(Bits{1} << mantissa);
  constexpr int terms = std::is_same_v<T, double> ? 13 : 7;

  constexpr T least = 2 * T(std::numeric_limits<T>::min_exponent);  // below it, 0
  hi = hi < least ? least : hi;
  const T shifted = hi + shifter;
  const T fraction = (hi - (shifted - shifter)) + lo;
  const T power = exp2_series<0, terms>(fraction);

  // 2^n is multiplied in as two factors, because it may be too small for a normal number where the product
  // is subnormal.
  const Bits n = __builtin_bit_cast(Bits, shifted) - __builtin_bit_cast(Bits, shifter);
  const Bits half = n >> 1;
  const T first = __builtin_bit_cast(T, static_cast<Bits>((half + bias) << mantissa));
  const T second = __builtin_bit_cast(T, static_cast<Bits>((n - half + bias) << mantissa));
  return power * first * second;
}

}  // namespace opgate_ops
