// The floating-point formats of torch's dtypes, and the size of one unit in the last place.
#pragma once

#include <c10/core/ScalarType.h>
#include <opgate/accuracy.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>

namespace opgate {

struct FloatFormat {
  int precision;             ///< significant bits, including the implicit one
  int min_exponent;          ///< the smallest normal number is 2^min_exponent
  double largest;            ///< the largest finite value
  bool has_infinity = true;  ///< otherwise an overflow becomes NaN, or stays at the largest number
};

/// The format of a dtype; none for dtypes that are not floating, and for float4_e2m1fn_x2, whose elements
/// hold two numbers each. Complex dtypes have the format of their parts.
std::optional<FloatFormat> float_format(c10::ScalarType dtype);

/// The format in whose ulps errors in results of this dtype are measured: that of `accuracy.dtype` where that
/// is less precise, otherwise the dtype's own. None for dtypes that are not floating.
std::optional<FloatFormat> format_of_ulps(c10::ScalarType dtype, const Accuracy& accuracy);

/// The spacing of the format's numbers at `value` (Muller et al., Handbook of Floating-Point Arithmetic,
/// 2nd ed., 2.3.2, Goldberg's ulp). At 0 and in the subnormal range it is the spacing of the subnormals; at
/// infinity it is the spacing at the largest number. `value` must not be NaN.
inline double ulp_at(double value, const FloatFormat& format) {
  if (std::isinf(value)) value = format.largest;
  // Uses the bit fields of the double instead of calls to ilogb and ldexp, because it runs for every
  // element.
  const int exponent = static_cast<int>(std::bit_cast<uint64_t>(value) >> 52 & 0x7FF) - 1023;
  const int unit = std::max(exponent, format.min_exponent) - format.precision + 1;
  if (unit < -1022) return std::ldexp(1.0, unit);
  return std::bit_cast<double>(static_cast<uint64_t>(unit + 1023) << 52);
}

/// The slow path of ulp_error: one of the numbers is NaN or infinite, or `got` has the largest magnitude of
/// a format without infinity.
double ulp_error_at_the_end(double got, double want, const FloatFormat& format, double scale);

/// |got - want| in ulps of the format at `want`, or at `scale` if that is larger in magnitude; a scale that
/// is not finite is ignored. The error is 0 for two NaNs, for equal infinities, and for an overflow that the
/// format cannot avoid; it is infinity if only one of the numbers is NaN or infinite. It is never NaN.
inline double ulp_error(double got, double want, const FloatFormat& format, double scale = 0) {
  if (got == want) return 0;
  const bool saturated = !format.has_infinity && std::abs(got) == format.largest;
  if (!std::isfinite(got) || !std::isfinite(want) || saturated)
    return ulp_error_at_the_end(got, want, format, scale);
  const double at = std::isfinite(scale) ? std::max(std::abs(want), std::abs(scale)) : want;
  return std::abs(got - want) / ulp_at(at, format);
}

}  // namespace opgate
