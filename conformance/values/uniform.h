// Evenly spread values, one part at a time. Other families use them as their ordinary values.
//
// A floating value is low + (high - low) * u in double, with u in [0, 1) from the top 53 bits, then rounded
// to float and from there to the dtype. An integer is floor(first + u * count). The bits of an opaque dtype
// are the top bits of bits_at(key, i).
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "values/counter.h"
#include "values/parts.h"

namespace opgate {

template <class T>
class Uniform {
 public:
  /// Values in [range[0], range[1]), for integers including range[1]. If `range` is empty: [-1, 1), for
  /// signed integers -100 to 100, for unsigned ones 0 to 100.
  explicit Uniform(const std::vector<double>& range = {}) {
    if (!range.empty()) {
      low_ = range[0];
      high_ = range[1];
    } else if constexpr (std::is_integral_v<T>) {
      low_ = std::is_signed_v<T> ? -kIntegerBound : 0;
      high_ = kIntegerBound;
    }
    if constexpr (std::is_integral_v<T>) {
      // The largest double that is no larger than the dtype's maximum.
      const double largest = std::floor(std::nextafter(std::ldexp(1.0, std::numeric_limits<T>::digits), 0.0));
      low_ = std::max(std::ceil(low_), static_cast<double>(std::numeric_limits<T>::min()));
      high_ = std::min(std::floor(high_), largest);
    }
  }

  /// Whether an integer lies in the range; always true for types that are not integers.
  bool holds_any() const { return !std::is_integral_v<T> || std::is_same_v<T, bool> || low_ <= high_; }

  T at(uint64_t key, uint64_t i) const {
    if constexpr (Opaque<T>) {
      return T(static_cast<decltype(T::val_)>(bits_at(key, i) >> (64 - 8 * sizeof(T))));
    } else if constexpr (std::is_same_v<T, bool>) {
      return (bits_at(key, i) >> 63) != 0;
    } else if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(low_ + std::floor(unit_at(key, i) * (high_ - low_ + 1)));
    } else {
      return rounded<T>(low_ + (high_ - low_) * unit_at(key, i));
    }
  }

 private:
  static constexpr double kIntegerBound = 100;
  double low_ = -1;
  double high_ = 1;
};

}  // namespace opgate
