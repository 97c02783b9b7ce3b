// The special numbers of a dtype. Each function returns an empty vector if the dtype has no such number.
// The numbers are made from bits, without arithmetic, so that a processor that flushes subnormals to zero
// makes the same ones.
#pragma once

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "values/parts.h"

namespace opgate {

template <class T>
T from_bits(BitsOf<T> bits) {
  return std::bit_cast<T>(bits);
}

/// The largest, the lowest and the smallest normal number; for integers, the largest and the lowest.
template <class T>
std::vector<T> extreme_values() {
  using Limits = std::numeric_limits<T>;
  if constexpr (FloatingElement<T>) {
    return {Limits::max(), Limits::lowest(), Limits::min()};
  } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    return {Limits::max(), Limits::lowest()};
  } else {
    return {};
  }
}

/// The smallest and the largest subnormal, each positive and negative.
template <class T>
std::vector<T> subnormal_values() {
  if constexpr (FloatingElement<T>) {
    const auto normal = std::bit_cast<BitsOf<T>>(std::numeric_limits<T>::min());
    if (normal <= 1) return {};
    const auto sign = static_cast<BitsOf<T>>(BitsOf<T>{1} << (8 * sizeof(T) - 1));
    const auto largest = static_cast<BitsOf<T>>(normal - 1);
    return {from_bits<T>(1), from_bits<T>(largest), from_bits<T>(static_cast<BitsOf<T>>(sign | 1)),
            from_bits<T>(static_cast<BitsOf<T>>(sign | largest))};
  } else {
    return {};
  }
}

/// 0 and, where the dtype has it, -0.
template <class T>
std::vector<T> zero_values() {
  if constexpr (FloatingElement<T>) {
    const T zero = rounded<T>(0.0);
    const T negative = rounded<T>(-0.0);
    if (static_cast<float>(zero) != 0) return {};
    return std::signbit(static_cast<float>(negative)) ? std::vector<T>{zero, negative} : std::vector<T>{zero};
  } else if constexpr (Opaque<T>) {
    return {};
  } else {
    return {T(0)};
  }
}

template <class T>
std::vector<T> infinity_values() {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if constexpr (FloatingElement<T>) {
    if (std::isinf(static_cast<double>(rounded<T>(kInfinity))))
      return {rounded<T>(kInfinity), rounded<T>(-kInfinity)};
  }
  return {};
}

/// The quiet NaN that a conversion from double gives.
template <class T>
std::vector<T> nan_values() {
  if constexpr (FloatingElement<T>) {
    return {rounded<T>(std::numeric_limits<double>::quiet_NaN())};
  } else {
    return {};
  }
}

}  // namespace opgate
