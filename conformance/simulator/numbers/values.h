// Numbers and the bits of a slot that stand for them.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "simulator/numbers/small_floats.h"

namespace opgate::simulator {

/// The value of type T in the low bits of a slot.
template <class T>
T from_bits(std::uint64_t bits) {
  if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  } else if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<double>(bits);
  } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, Bfloat16>) {
    return T{static_cast<std::uint16_t>(bits)};
  } else {
    return static_cast<T>(bits);
  }
}

/// Integers are extended to the whole slot by their sign, because the register may be wider than the type of
/// the instruction.
template <class T>
std::uint64_t to_bits(T value) {
  if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<std::uint32_t>(value);
  } else if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<std::uint64_t>(value);
  } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, Bfloat16>) {
    return value.bits;
  } else {
    return static_cast<std::uint64_t>(value);
  }
}

/// Zero of the same sign for a subnormal number, as `.ftz` asks for.
inline float flushed(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return (bits & 0x7f800000u) == 0 ? std::bit_cast<float>(bits & 0x80000000u) : value;
}

/// NaN in single precision is always this one; the hardware passes no payloads on.
inline float with_one_nan(float value) { return value == value ? value : std::bit_cast<float>(0x7fffffffu); }

/// A NaN of double precision passes its payload on, and is quiet then.
inline double quieted(double value) {
  if (value == value) return value;
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) | std::uint64_t{1} << 51);
}

/// `.sat`: into [0, 1], and NaN becomes 0.
template <class T>
T saturated(T value) {
  return value > T(0) ? (value < T(1) ? value : T(1)) : T(0);
}

}  // namespace opgate::simulator
