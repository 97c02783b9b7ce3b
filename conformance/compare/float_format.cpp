#include "compare/float_format.h"

#include <limits>

namespace opgate {

std::optional<FloatFormat> float_format(c10::ScalarType dtype) {
  switch (dtype) {
    case c10::kHalf:
    case c10::kComplexHalf:
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
      return FloatFormat{4, -6, 448, false};
    case c10::kFloat8_e4m3fnuz:
      return FloatFormat{4, -7, 240, false};
    case c10::kFloat8_e5m2:
      return FloatFormat{3, -14, 57344};
    case c10::kFloat8_e5m2fnuz:
      return FloatFormat{3, -15, 57344, false};
    case c10::kFloat8_e8m0fnu:
      return FloatFormat{1, -127, 0x1p127, false};
    default:
      return std::nullopt;
  }
}

std::optional<FloatFormat> format_of_ulps(c10::ScalarType dtype, const Accuracy& accuracy) {
  const auto own = float_format(dtype);
  if (!own || !accuracy.dtype) return own;
  const auto computed = float_format(*accuracy.dtype);
  return computed && computed->precision < own->precision ? computed : own;
}

double ulp_error_at_the_end(double got, double want, const FloatFormat& format, double scale) {
  if (got == want || (std::isnan(got) && std::isnan(want))) return 0;
  // The largest magnitude that still rounds to a finite number lies half an ulp beyond the largest one.
  const bool must_overflow = std::abs(want) >= format.largest + ulp_at(format.largest, format) / 2;
  // For float8_e4m3fn, an overflow becomes NaN in torch 2.11 and the largest number in torch 2.15.
  const bool overflowed = format.has_infinity ? std::isinf(got) && std::signbit(got) == std::signbit(want)
                                              : std::isnan(got) || got == std::copysign(format.largest, want);
  if (must_overflow && overflowed) return 0;
  if (!std::isfinite(got) || !std::isfinite(want)) return std::numeric_limits<double>::infinity();
  const double at = std::isfinite(scale) ? std::max(std::abs(want), std::abs(scale)) : want;
  return std::abs(got - want) / ulp_at(at, format);
}

}  // namespace opgate
