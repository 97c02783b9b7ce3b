// The floating-point formats of torch's dtypes, and the size of one unit in the last place.
#pragma once

#include <c10/core/ScalarType.h>

#include <optional>

namespace opgate {

struct FloatFormat {
  int precision;     ///< significant bits, the implicit one included
  int min_exponent;  ///< of the smallest normal number: 2^min_exponent
  double largest;    ///< finite value
};

/// None for dtypes that are not floating. Complex dtypes have the format of their parts.
std::optional<FloatFormat> float_format(c10::ScalarType dtype);

/// The spacing of the format's numbers at `value` (Muller et al., Handbook of Floating-Point Arithmetic, 2nd
/// ed., 2.3.2, Goldberg's ulp); in the subnormal range and at 0 the spacing of subnormals.
double ulp_at(double value, const FloatFormat& format);

/// |got - want| in ulps of the format at `want`. 0 for two NaNs, for equal infinities, and for an overflow
/// that the format cannot avoid; infinity where only one is NaN or infinite.
double ulp_error(double got, double want, const FloatFormat& format);

}  // namespace opgate
