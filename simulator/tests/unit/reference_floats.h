// Rounding by comparing with neighbours, in the 113 bits of __float128: another way than that of the
// simulator.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace opgate::simulator::tests {

using Quad = __float128;

inline float as_float(std::uint64_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits)); }
inline double as_double(std::uint64_t bits) { return std::bit_cast<double>(bits); }
inline std::uint64_t bits_of(float value) {
  return value != value ? 0x7fffffff : std::bit_cast<std::uint32_t>(value);
}
inline std::uint64_t bits_of(double value) { return std::bit_cast<std::uint64_t>(value); }

/// The neighbour of an exact value in the direction of the letter of PTX: n, z, m, p. `lost` is what 113 bits
/// could not hold of it.
template <class T>
T rounded_to(Quad exact, char direction, Quad lost = 0) {
  T nearest = static_cast<T>(exact);
  if (direction == 'n' || nearest != nearest || exact == 0) return nearest;
  const T infinity = std::numeric_limits<T>::infinity();
  const bool exact_is_infinite = exact == Quad(infinity) || exact == -Quad(infinity);
  if (exact_is_infinite) return nearest;
  const bool up = direction == 'p' || (direction == 'z' && exact < 0);
  if (up && (Quad(nearest) < exact || (Quad(nearest) == exact && lost > 0)))
    nearest = std::nextafter(nearest, infinity);
  if (!up && (Quad(nearest) > exact || (Quad(nearest) == exact && lost < 0)))
    nearest = std::nextafter(nearest, -infinity);
  return nearest;
}

/// What the sum of 113 bits has lost, exactly (Knuth).
inline Quad lost_in_sum(Quad a, Quad b) {
  const Quad sum = a + b;
  const Quad back = sum - a;
  const Quad lost = (a - (sum - back)) + (b - back);
  return lost == lost ? lost : 0;
}

inline float without_subnormal(float value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0f, value) : value;
}

/// A format of 16 bits as the list of its numbers that are not below zero; the index is the bits.
class SmallFormat {
 public:
  SmallFormat(int fraction, int exponent)
      : infinity_(static_cast<std::uint32_t>(((1 << exponent) - 1) << fraction)) {
    const int bias = (1 << (exponent - 1)) - 1;
    for (std::uint32_t bits = 0; bits < infinity_; ++bits) {
      const int power = static_cast<int>(bits >> fraction);
      const double digits = bits & ((1u << fraction) - 1);
      numbers_.push_back(power == 0 ? std::ldexp(digits, 1 - bias - fraction)
                                    : std::ldexp(digits + (1 << fraction), power - bias - fraction));
    }
    // Where infinity begins for rounding to nearest: one step after the last number.
    numbers_.push_back(2 * numbers_.back() - numbers_[numbers_.size() - 2]);
  }

  double number(std::uint64_t bits) const {
    const std::uint32_t magnitude = bits & 0x7fff;
    double value = magnitude < infinity_    ? numbers_[magnitude]
                   : magnitude == infinity_ ? HUGE_VAL
                                            : std::nan("");
    return (bits & 0x8000) != 0 ? -value : value;
  }

  std::uint64_t bits(Quad exact, char direction = 'n') const {
    if (exact != exact) return 0x7fff;
    const bool negative = exact < 0 || (exact == 0 && std::signbit(static_cast<double>(exact)));
    const Quad magnitude = negative ? -exact : exact;
    if (magnitude == Quad(HUGE_VAL)) return with_sign(infinity_, negative);
    std::uint32_t low = 0;
    std::uint32_t high = infinity_;
    if (magnitude >= Quad(numbers_.back())) {
      const bool away = direction == 'n' || (direction == 'p' && !negative) || (direction == 'm' && negative);
      return with_sign(away ? infinity_ : infinity_ - 1, negative);
    }
    while (high - low > 1) {
      const std::uint32_t middle = (low + high) / 2;
      (Quad(numbers_[middle]) <= magnitude ? low : high) = middle;
    }
    const Quad below = magnitude - Quad(numbers_[low]);
    const Quad above = Quad(numbers_[high]) - magnitude;
    bool up = false;
    if (below != 0) {
      up = direction == 'n'   ? below > above || (below == above && (low & 1) != 0)
           : direction == 'p' ? !negative
           : direction == 'm' ? negative
                              : false;
    }
    return with_sign(up ? high : low, negative);
  }

 private:
  static std::uint64_t with_sign(std::uint32_t bits, bool negative) {
    return bits | (negative ? 0x8000u : 0u);
  }

  std::uint32_t infinity_;
  std::vector<double> numbers_;
};

inline const SmallFormat& half_format() {
  static const SmallFormat format(10, 5);
  return format;
}

inline const SmallFormat& bfloat16_format() {
  static const SmallFormat format(7, 8);
  return format;
}

}  // namespace opgate::simulator::tests
