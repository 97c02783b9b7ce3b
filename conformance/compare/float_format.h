// The floating-point formats of torch's dtypes, and the size of one unit in the last place.
#pragma once

#include <c10/core/ScalarType.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>

namespace opgate {

struct FloatFormat {
  int precision;             ///< significant bits, the implicit one included
  int min_exponent;          ///< of the smallest normal number: 2^min_exponent
  double largest;            ///< finite value
  bool has_infinity = true;  ///< otherwise an overflow becomes NaN, or stays at the largest number
};

/// None for dtypes that are not floating, and for float4_e2m1fn_x2, of which two share an element. Complex
/// dtypes have the format of their parts.
std::optional<FloatFormat> float_format(c10::ScalarType dtype);

/// The spacing of the format's numbers at `value` (Muller et al., Handbook of Floating-Point Arithmetic, 2nd
/// ed., 2.3.2, Goldberg's ulp); in the subnormal range and at 0 the spacing of subnormals, at infinity that
/// of the largest number. Not for NaN.
inline double ulp_at(double value, const FloatFormat& format) {
  if (std::isinf(value)) value = format.largest;
  // By the fields of the double: this runs for every element, and ilogb and ldexp are calls.
  const int exponent = static_cast<int>(std::bit_cast<uint64_t>(value) >> 52 & 0x7FF) - 1023;
  const int unit = std::max(exponent, format.min_exponent) - format.precision + 1;
  if (unit < -1022) return std::ldexp(1.0, unit);
  return std::bit_cast<double>(static_cast<uint64_t>(unit + 1023) << 52);
}

/// ulp_error where one of the numbers is NaN or infinite, or `got` the largest number of a format without
/// infinity.
double ulp_error_at_the_end(double got, double want, const FloatFormat& format, double scale);

/// |got - want| in ulps of the format at `want`, or at `scale` where that is larger in magnitude; a scale of
/// NaN says nothing. 0 for two NaNs, for equal infinities, and for an overflow that the format cannot avoid;
/// infinity where only one is NaN or infinite. Never NaN.
inline double ulp_error(double got, double want, const FloatFormat& format, double scale = 0) {
  if (got == want) return 0;
  const bool saturated = !format.has_infinity && std::abs(got) == format.largest;
  if (!std::isfinite(got) || !std::isfinite(want) || saturated)
    return ulp_error_at_the_end(got, want, format, scale);
  return std::abs(got - want) / ulp_at(std::max(std::abs(want), std::abs(scale)), format);
}

}  // namespace opgate
