// The parts of a tensor's elements: a complex number is two consecutive real numbers, so that every family
// is written for real numbers only.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/complex.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "base/dtypes.h"

namespace opgate {

/// An unsigned integer with as many bits as T.
template <class T>
using BitsOf = std::conditional_t<
    sizeof(T) == 1, uint8_t,
    std::conditional_t<sizeof(T) == 2, uint16_t, std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;

/// Calls visitor(T* parts, uint64_t count) with the numbers of a contiguous CPU tensor; T is never complex.
template <class Visitor>
void visit_parts(const at::Tensor& out, Visitor&& visitor) {
  visit_dtype(out.scalar_type(), [&]<class T>() {
    const auto count = static_cast<uint64_t>(out.numel());
    if constexpr (c10::is_complex<T>::value) {
      using Part = std::remove_cvref_t<decltype(T().real())>;
      visitor(static_cast<Part*>(out.mutable_data_ptr()), 2 * count);
    } else {
      visitor(static_cast<T*>(out.mutable_data_ptr()), count);
    }
  });
}

/// `value` rounded to float and from there to T; unchanged for double. If T has no infinity, values beyond
/// its largest number become that number, because torch's own conversions differ there from version to
/// version.
template <class T>
T rounded(double value) {
  if constexpr (std::is_same_v<T, double>) {
    return value;
  } else {
    if constexpr (!std::numeric_limits<T>::has_infinity) {
      const double largest = static_cast<float>(std::numeric_limits<T>::max());
      value = std::clamp(value, -largest, largest);
    }
    return static_cast<T>(static_cast<float>(value));
  }
}

}  // namespace opgate
