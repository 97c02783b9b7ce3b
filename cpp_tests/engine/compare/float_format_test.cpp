// Compares units in the last place with the actual spacing of the formats' numbers.
#include <c10/util/BFloat16.h>
#include <c10/util/Float8_e4m3fn.h>
#include <c10/util/Float8_e4m3fnuz.h>
#include <c10/util/Float8_e5m2.h>
#include <c10/util/Float8_e5m2fnuz.h>
#include <c10/util/Float8_e8m0fnu.h>
#include <c10/util/Half.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "base/dtypes.h"
#include "compare/float_format.h"

namespace opgate::float_format_test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

FloatFormat format_of(c10::ScalarType dtype) { return *float_format(dtype); }

double half_ulps(double got, double want) { return ulp_error(got, want, format_of(c10::kHalf)); }
double float_ulps(double got, double want) { return ulp_error(got, want, format_of(c10::kFloat)); }

// All non-negative finite numbers of a short format, in order: their bits are 0 to those of `largest`.
template <class T, class Bits>
void expect_spacing(c10::ScalarType dtype, Bits largest) {
  const FloatFormat format = format_of(dtype);
  const auto value = [](Bits bits) {
    return static_cast<double>(static_cast<float>(T(bits, T::from_bits())));
  };
  EXPECT_EQ(value(largest), format.largest);
  for (Bits bits = 0; bits < largest; ++bits) {
    const double here = value(bits);
    const double next = value(static_cast<Bits>(bits + 1));
    ASSERT_EQ(ulp_at(here, format), next - here) << dtype_name(dtype) << " at " << here;
    ASSERT_EQ(ulp_at(-here, format), next - here) << dtype_name(dtype) << " at " << -here;
    ASSERT_EQ(ulp_error(next, here, format), 1) << dtype_name(dtype) << " at " << here;
  }
}

TEST(UlpAt, IsTheDistanceToTheNextNumberOfEveryShortFormat) {
  expect_spacing<c10::Half, uint16_t>(c10::kHalf, 0x7BFF);
  expect_spacing<c10::BFloat16, uint16_t>(c10::kBFloat16, 0x7F7F);
  expect_spacing<c10::Float8_e4m3fn, uint8_t>(c10::kFloat8_e4m3fn, 0x7E);
  expect_spacing<c10::Float8_e4m3fnuz, uint8_t>(c10::kFloat8_e4m3fnuz, 0x7F);
  expect_spacing<c10::Float8_e5m2, uint8_t>(c10::kFloat8_e5m2, 0x7B);
  expect_spacing<c10::Float8_e5m2fnuz, uint8_t>(c10::kFloat8_e5m2fnuz, 0x7F);
  expect_spacing<c10::Float8_e8m0fnu, uint8_t>(c10::kFloat8_e8m0fnu, 0xFE);
}

TEST(UlpAt, IsTheDistanceToTheNextFloat) {
  std::mt19937 random(5);
  for (int i = 0; i < 100000; ++i) {
    const auto bits = static_cast<uint32_t>(random() & 0x7FFFFFFFu);
    float value = 0;
    std::memcpy(&value, &bits, sizeof(value));
    if (!std::isfinite(value) || value == std::numeric_limits<float>::max()) continue;
    const double next = std::nextafter(value, std::numeric_limits<float>::infinity());
    ASSERT_EQ(ulp_at(value, format_of(c10::kFloat)), next - static_cast<double>(value)) << value;
  }
}

TEST(UlpAt, IsTheDistanceToTheNextDouble) {
  for (const double value : {0.0, 5e-324, 2.2250738585072014e-308, 1e-300, 0.1, 1.0, 1.5, 1e300}) {
    EXPECT_EQ(ulp_at(value, format_of(c10::kDouble)), std::nextafter(value, kInfinity) - value) << value;
  }
}

TEST(UlpAt, StaysThatOfTheSmallestNormalInTheSubnormalRange) {
  EXPECT_EQ(ulp_at(0, format_of(c10::kHalf)), 0x1p-24);
  EXPECT_EQ(ulp_at(0x1p-24, format_of(c10::kHalf)), 0x1p-24);
  EXPECT_EQ(ulp_at(0x1p-14, format_of(c10::kHalf)), 0x1p-24);
  EXPECT_EQ(ulp_at(0x1p-13, format_of(c10::kHalf)), 0x1p-23);
  EXPECT_EQ(ulp_at(1e-300, format_of(c10::kHalf)), 0x1p-24);  // a double below all numbers of the format
}

TEST(UlpError, IsMeasuredAboveAPowerOfTwo) {
  const float below = std::nextafter(1.0f, 0.0f);
  const float above = std::nextafter(1.0f, 2.0f);
  EXPECT_EQ(float_ulps(above, 1), 1);
  EXPECT_EQ(float_ulps(below, 1), 0.5);  // the spacing halves below, the unit is that at `want`
  EXPECT_EQ(float_ulps(1, below), 1);
}

TEST(UlpError, CountsFromTheUnroundedValue) {
  const double third = 1.0 / 3;
  EXPECT_GT(float_ulps(static_cast<float>(third), third), 0);
  EXPECT_LE(float_ulps(static_cast<float>(third), third), 0.5);  // a correct rounding is at most half off
  EXPECT_GT(float_ulps(std::nextafter(static_cast<float>(third), 1.0f), third), 0.5);
}

TEST(UlpError, CountsSubnormalsByTheirOwnSpacing) {
  EXPECT_EQ(half_ulps(0x1p-24, 0), 1);
  EXPECT_EQ(half_ulps(-0x1p-24, 0x1p-24), 2);
  EXPECT_EQ(float_ulps(std::numeric_limits<float>::denorm_min(), 0), 1);
  EXPECT_EQ(half_ulps(0.0, -0.0), 0);  // ulps do not see the sign of zero: only bits do
}

TEST(UlpError, TakesANanForANanOnly) {
  EXPECT_EQ(float_ulps(kNan, kNan), 0);
  EXPECT_EQ(float_ulps(kNan, 1), kInfinity);
  EXPECT_EQ(float_ulps(1, kNan), kInfinity);
  EXPECT_EQ(float_ulps(kInfinity, kNan), kInfinity);
  EXPECT_EQ(float_ulps(kNan, 0), kInfinity);
}

TEST(UlpError, TakesAnInfinityForTheSameInfinityOnly) {
  EXPECT_EQ(float_ulps(kInfinity, kInfinity), 0);
  EXPECT_EQ(float_ulps(-kInfinity, -kInfinity), 0);
  EXPECT_EQ(float_ulps(kInfinity, -kInfinity), kInfinity);
  EXPECT_EQ(float_ulps(kInfinity, 1), kInfinity);
  EXPECT_EQ(float_ulps(1, kInfinity), kInfinity);
}

TEST(UlpError, ForgivesAnOverflowExactlyWhereRoundingOverflows) {
  for (const double want : {65505.0, 65519.0, 65520.0, 65521.0, 1e6}) {
    const bool overflows = std::isinf(static_cast<float>(c10::Half(static_cast<float>(want))));
    EXPECT_EQ(half_ulps(kInfinity, want), overflows ? 0 : kInfinity) << want;
    EXPECT_EQ(half_ulps(-kInfinity, -want), overflows ? 0 : kInfinity) << want;
    EXPECT_EQ(half_ulps(-kInfinity, want), kInfinity) << want;  // an overflow to the wrong sign is an error
  }
  EXPECT_EQ(half_ulps(kInfinity, 65519.99), kInfinity);  // as a float, this double would equal 65520
  EXPECT_EQ(half_ulps(kInfinity, 65504), kInfinity);
  const double past_float = 0x1.FFFFFFp127;
  EXPECT_TRUE(std::isinf(static_cast<float>(past_float)));
  EXPECT_EQ(float_ulps(kInfinity, past_float), 0);
  EXPECT_EQ(float_ulps(kInfinity, std::nextafter(past_float, 0)), kInfinity);
  EXPECT_EQ(ulp_error(kInfinity, std::numeric_limits<double>::max(), format_of(c10::kDouble)), kInfinity);
}

TEST(UlpError, DoesNotForgiveAFiniteNumberFarFromAnOverflow) {
  EXPECT_GT(half_ulps(0, 1e6), 1000);
  EXPECT_LE(half_ulps(65504, 65520), 0.5);
}

// An overflow that the format cannot avoid must give what this torch's own conversion gives.
template <class T>
void expect_overflow_forgiven(c10::ScalarType dtype, const std::vector<double>& others) {
  const FloatFormat format = format_of(dtype);
  std::vector<double> overflows{static_cast<float>(T(static_cast<float>(2 * format.largest)))};
  overflows.insert(overflows.end(), others.begin(), others.end());
  const double end = format.largest + ulp_at(format.largest, format) / 2;
  for (const double got : overflows) {
    for (const double want : {end, 2 * format.largest, kInfinity}) {
      EXPECT_EQ(ulp_error(got, want, format), 0) << got << ", not " << want << " of " << dtype_name(dtype);
    }
    EXPECT_GE(ulp_error(got, -2 * format.largest, format), std::isnan(got) ? 0 : 10) << dtype_name(dtype);
    EXPECT_GT(ulp_error(got, 1, format), 10) << got << " of " << dtype_name(dtype);
  }
}

TEST(UlpError, ForgivesNanAndTheLargestNumberForAnOverflowWhereTheFormatHasNoInfinity) {
  expect_overflow_forgiven<c10::Half>(c10::kHalf, {});
  expect_overflow_forgiven<c10::Float8_e5m2>(c10::kFloat8_e5m2, {});
  expect_overflow_forgiven<c10::Float8_e4m3fn>(c10::kFloat8_e4m3fn, {kNan, 448});
  expect_overflow_forgiven<c10::Float8_e5m2fnuz>(c10::kFloat8_e5m2fnuz, {kNan, 57344});
  expect_overflow_forgiven<c10::Float8_e4m3fnuz>(c10::kFloat8_e4m3fnuz, {kNan, 240});
  EXPECT_EQ(half_ulps(kNan, 1e6), kInfinity);
  EXPECT_EQ(half_ulps(65504, kInfinity), kInfinity);
  EXPECT_EQ(ulp_error(448, 400, format_of(c10::kFloat8_e4m3fn)), 1.5);  // 400 does not overflow
  EXPECT_EQ(ulp_error(kNan, 448, format_of(c10::kFloat8_e4m3fn)), kInfinity);
}

TEST(UlpError, CountsAFlushToZeroInUnitsOfTheSmallestSubnormal) {
  EXPECT_EQ(float_ulps(0, 0x1p-127), 0x1p22);
  EXPECT_EQ(float_ulps(0, -0x1p-149), 1);
  EXPECT_EQ(half_ulps(0, 0x1p-15), 512);
  EXPECT_EQ(ulp_error(0, 0x1p-1023, format_of(c10::kDouble)), 0x1p51);
  EXPECT_EQ(float_ulps(0, 0x1p-150), 0.5);  // the correct rounding, to even
  EXPECT_EQ(float_ulps(0, 1e-300), 1e-300 / 0x1p-149);
}

TEST(UlpError, IsMeasuredAtTheScaleWhereThatIsLarger) {
  const FloatFormat format = format_of(c10::kFloat);
  EXPECT_EQ(ulp_error(1 + 0x1p-20, 1, format, 16), 0.5);
  EXPECT_EQ(ulp_error(1 + 0x1p-20, 1, format, -16), 0.5);
  EXPECT_EQ(ulp_error(1 + 0x1p-20, 1, format, 0.5), 8);
  EXPECT_EQ(ulp_error(1 + 0x1p-20, 1, format, kNan), 8);
  EXPECT_EQ(ulp_error(1 + 0x1p-20, 1, format, kInfinity), 8)
      << "an infinite scale would accept every finite number";
  EXPECT_EQ(ulp_error(448, 1, format_of(c10::kFloat8_e4m3fn), kInfinity), 447 * 8)
      << "also where the format has no infinity, and the result is its largest number";
  EXPECT_EQ(ulp_error(format.largest, 0, format, format.largest), format.largest / 0x1p104);
}

TEST(FloatFormat, ExistsExactlyForFloatingDtypes) {
  for (const c10::ScalarType dtype : every_dtype()) {
    const bool floating = c10::isFloatingType(dtype) || c10::isComplexType(dtype);
    EXPECT_EQ(float_format(dtype).has_value(), floating && dtype != c10::kFloat4_e2m1fn_x2)
        << dtype_name(dtype);
  }
  EXPECT_EQ(format_of(c10::kComplexHalf).precision, format_of(c10::kHalf).precision);
  EXPECT_EQ(format_of(c10::kComplexFloat).precision, format_of(c10::kFloat).precision);
  EXPECT_EQ(format_of(c10::kComplexDouble).precision, format_of(c10::kDouble).precision);
}

}  // namespace
}  // namespace opgate::float_format_test
