#include "numbers/small_floats.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "numbers/float_semantics.h"

namespace opgate::simulator {
namespace {

constexpr int kDoubleFraction = 52;

// `magnitude` without its lowest `shift` bits, rounded.
std::uint64_t shifted(std::uint64_t magnitude, int shift, bool negative, Rounding rounding) {
  if (shift <= 0) return magnitude << -shift;
  const bool far = shift > 62;
  const std::uint64_t kept = far ? 0 : magnitude >> shift;
  const std::uint64_t rest = far ? magnitude : magnitude & ((std::uint64_t{1} << shift) - 1);
  if (rest == 0) return kept;
  const std::uint64_t half =
      far ? std::numeric_limits<std::uint64_t>::max() : std::uint64_t{1} << (shift - 1);
  switch (rounding) {
    case Rounding::nearest:
      return kept + (rest > half || (rest == half && (kept & 1) != 0) ? 1 : 0);
    case Rounding::away:
      return kept + (rest >= half ? 1 : 0);
    case Rounding::zero:
      return kept;
    case Rounding::down:
      return kept + (negative ? 1 : 0);
    case Rounding::up:
      return kept + (negative ? 0 : 1);
  }
  return kept;
}

}  // namespace

std::uint64_t encode(double value, int fraction_bits, int exponent_bits, Rounding rounding) {
  const std::uint64_t infinity = ((std::uint64_t{1} << exponent_bits) - 1) << fraction_bits;
  if (value != value) return (std::uint64_t{1} << (fraction_bits + exponent_bits)) - 1;
  const bool negative = std::signbit(value);
  const std::uint64_t sign = negative ? std::uint64_t{1} << (fraction_bits + exponent_bits) : 0;
  if (std::isinf(value)) return sign | infinity;
  if (value == 0) return sign;
  const auto double_bits = std::bit_cast<std::uint64_t>(value);
  const auto field = static_cast<int>(double_bits >> kDoubleFraction & 0x7ff);
  std::uint64_t magnitude = double_bits & ((std::uint64_t{1} << kDoubleFraction) - 1);
  if (field != 0) magnitude |= std::uint64_t{1} << kDoubleFraction;
  const int exponent = std::max(field, 1) - 1023;
  const int smallest = 2 - (1 << (exponent_bits - 1));
  const int effective = std::max(exponent, smallest);
  const std::uint64_t kept =
      shifted(magnitude, kDoubleFraction - fraction_bits + effective - exponent, negative, rounding);
  // The leading bit of a normal number adds one to the exponent, as does a carry out of the fraction.
  const std::uint64_t bits = (static_cast<std::uint64_t>(effective - smallest) << fraction_bits) + kept;
  if (bits < infinity) return sign | bits;
  const bool to_infinity = rounding == Rounding::nearest || rounding == Rounding::away ||
                           (rounding == Rounding::down && negative) ||
                           (rounding == Rounding::up && !negative);
  return sign | (to_infinity ? infinity : infinity - 1);
}

double decode(std::uint64_t bits, int fraction_bits, int exponent_bits) {
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << fraction_bits) - 1);
  const auto exponent = static_cast<int>(bits >> fraction_bits & ((std::uint64_t{1} << exponent_bits) - 1));
  const bool negative = (bits >> (fraction_bits + exponent_bits) & 1) != 0;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  std::uint64_t sign = negative ? std::uint64_t{1} << 63 : 0;
  if (exponent == (1 << exponent_bits) - 1) {
    const std::uint64_t payload = fraction << (kDoubleFraction - fraction_bits);
    return std::bit_cast<double>(sign | std::uint64_t{0x7ff} << kDoubleFraction | payload);
  }
  if (exponent == 0) {
    const double magnitude = std::ldexp(static_cast<double>(fraction), 1 - bias - fraction_bits);
    return negative ? -magnitude : magnitude;
  }
  sign |= static_cast<std::uint64_t>(exponent - bias + 1023) << kDoubleFraction;
  return std::bit_cast<double>(sign | fraction << (kDoubleFraction - fraction_bits));
}

double add_to_odd(double a, double b) {
  const double sum = a + b;
  if (!std::isfinite(sum)) return sum;
  // What the addition lost, exactly (Knuth).
  const double back = sum - a;
  const double lost = (a - (sum - back)) + (b - back);
  if (lost == 0 || (std::bit_cast<std::uint64_t>(sum) & 1) != 0) return sum;
  // The exact sum lies between this number, which is even, and a neighbour, which is odd.
  return std::nextafter(
      sum, lost > 0 ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity());
}

double extremum(double a, double b, bool smaller) {
  return smaller ? semantics::min(a, b) : semantics::max(a, b);
}

double to_double(Half value) { return semantics::f32_of_half(value.bits); }

double to_double(Bfloat16 value) { return semantics::f32_of_bfloat16(value.bits); }

double flushed_half(double value) {
  constexpr double kHalfway = 0x1p-14 * (1 - 0x1p-12);
  return std::fabs(value) < kHalfway ? std::copysign(0.0, value) : value;
}

// A number of single precision is rounded as compiled code does it.
template <>
Half rounded<Half>(double value, Rounding rounding) {
  const auto single = static_cast<float>(value);
  if (rounding == Rounding::nearest && single == value) return {semantics::half_of_f32(single)};
  return {static_cast<std::uint16_t>(encode(value, 10, 5, rounding))};
}

template <>
Bfloat16 rounded<Bfloat16>(double value, Rounding rounding) {
  const auto single = static_cast<float>(value);
  if (rounding == Rounding::nearest && single == value) return {semantics::bfloat16_of_f32(single)};
  return {static_cast<std::uint16_t>(encode(value, 7, 8, rounding))};
}

float rounded_to_float(double value, Rounding rounding) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(encode(value, 23, 8, rounding)));
}

// Format e4m3 uses the bits of infinity and of most NaNs for numbers: 0x7e is 448, the largest, and 0x7f is
// NaN.
std::uint8_t encode_e4m3(double value) {
  if (value != value) return 0x7f;
  const std::uint8_t sign = std::signbit(value) ? 0x80 : 0;
  if (value == 0) return sign;
  const double magnitude = std::min(std::fabs(value), 448.0);
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  const int quantum = std::max(exponent - 1, -6) - 3;
  const double steps = std::nearbyint(std::ldexp(magnitude, -quantum));
  const int bits = ((quantum + 9) << 3) + static_cast<int>(steps);
  return static_cast<std::uint8_t>(sign | bits);
}

double decode_e4m3(std::uint8_t bits) {
  const double sign = (bits & 0x80) != 0 ? -1 : 1;
  if ((bits & 0x7f) == 0x7f) return std::numeric_limits<double>::quiet_NaN();
  const int exponent = bits >> 3 & 15;
  const int fraction = bits & 7;
  return sign * std::ldexp(exponent == 0 ? fraction : fraction + 8, std::max(exponent, 1) - 10);
}

std::uint8_t encode_e5m2(double value) {
  if (value != value) return 0x7f;
  constexpr double kLargest = 57344;
  return static_cast<std::uint8_t>(encode(std::clamp(value, -kLargest, kLargest), 2, 5, Rounding::nearest));
}

double decode_e5m2(std::uint8_t bits) { return decode(bits, 2, 5); }

}  // namespace opgate::simulator
