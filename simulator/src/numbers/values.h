// Numbers and the bits of a slot that stand for them.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "numbers/float_semantics.h"
#include "numbers/small_floats.h"

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

using semantics::flushed;
using semantics::quieted;
using semantics::saturated;
using semantics::with_one_nan;

}  // namespace opgate::simulator
