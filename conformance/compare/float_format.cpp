#include "compare/float_format.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace opgate {

std::optional<FloatFormat> float_format(c10::ScalarType dtype) {
  switch (dtype) {
    case c10::kHalf:
      return FloatFormat{11, -14, 65504};
    case c10::kBFloat16:
      return FloatFormat{8, -126, 0x1.FEp127};
    case c10::kFloat:
    case c10::kComplexFloat:
      return FloatFormat{24, -126, std::numeric_limits<float>::max()};
    case c10::kDouble:
    case c10::kComplexDouble:
      return FloatFormat{53, -1022, std::numeric_limits<double>::max()};
    case c10::kFloat8_e4m3fn:
      return FloatFormat{4, -6, 448};
    case c10::kFloat8_e4m3fnuz:
      return FloatFormat{4, -7, 240};
    case c10::kFloat8_e5m2:
      return FloatFormat{3, -14, 57344};
    case c10::kFloat8_e5m2fnuz:
      return FloatFormat{3, -15, 57344};
    default:
      return std::nullopt;
  }
}

double ulp_at(double value, const FloatFormat& format) {
  int exponent = format.min_exponent;
  if (value != 0 && std::isfinite(value)) exponent = std::max(std::ilogb(value), format.min_exponent);
  return std::ldexp(1.0, exponent - format.precision + 1);
}

double ulp_error(double got, double want, const FloatFormat& format) {
  if (std::isnan(got) || std::isnan(want)) {
    return std::isnan(got) && std::isnan(want) ? 0 : std::numeric_limits<double>::infinity();
  }
  if (got == want) return 0;
  // The largest magnitude that still rounds to a finite number lies half an ulp beyond the largest one.
  const bool must_overflow = std::abs(want) >= format.largest + ulp_at(format.largest, format) / 2;
  if (std::isinf(got) && must_overflow && std::signbit(got) == std::signbit(want)) return 0;
  if (std::isinf(got) || std::isinf(want)) return std::numeric_limits<double>::infinity();
  return std::abs(got - want) / ulp_at(want, format);
}

}  // namespace opgate
