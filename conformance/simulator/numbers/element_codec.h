// The elements of matrices and their bits in registers. Loops over many elements of one type do not look at
// the type again for each of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "simulator/numbers/matrix_product.h"
#include "simulator/numbers/small_floats.h"
#include "simulator/numbers/values.h"

namespace opgate::simulator {

/// The element whose bits are the lowest ones.
template <class Number>
Number decoded_element(Type type, std::uint64_t bits);

template <>
inline float decoded_element<float>(Type type, std::uint64_t bits) {
  switch (type) {
    case Type::f16:
      return semantics::f32_of_half(static_cast<std::uint16_t>(bits));
    case Type::bf16:
      return semantics::f32_of_bfloat16(static_cast<std::uint16_t>(bits));
    case Type::tf32:
      // The hardware does not look at the other bits of the fraction.
      return from_bits<float>(bits & 0xffffe000u);
    case Type::e4m3:
      return static_cast<float>(decode_e4m3(static_cast<std::uint8_t>(bits)));
    case Type::e5m2:
      return static_cast<float>(decode_e5m2(static_cast<std::uint8_t>(bits)));
    default:
      return from_bits<float>(bits);
  }
}

template <>
inline double decoded_element<double>(Type, std::uint64_t bits) {
  return from_bits<double>(bits);
}

template <>
inline std::int32_t decoded_element<std::int32_t>(Type type, std::uint64_t bits) {
  return type == Type::s8 ? static_cast<std::int8_t>(bits) : static_cast<std::uint8_t>(bits);
}

template <>
inline std::int64_t decoded_element<std::int64_t>(Type, std::uint64_t bits) {
  return static_cast<std::int32_t>(bits);
}

/// The bits of an element of the result.
inline std::uint64_t encoded_element(const Product& product, float sum) {
  return product.d == Type::f16 ? semantics::half_of_f32(sum) : to_bits(with_one_nan(sum));
}

inline std::uint64_t encoded_element(const Product&, double sum) { return to_bits(sum); }

inline std::uint64_t encoded_element(const Product& product, std::int64_t sum) {
  using Limits = std::numeric_limits<std::int32_t>;
  if (product.saturates) sum = std::clamp<std::int64_t>(sum, Limits::min(), Limits::max());
  return static_cast<std::uint32_t>(sum);
}

/// Calls `action` with a function that decodes elements of the type. For common types it is one of its own.
template <class Number, class Action>
void with_decoder(Type type, Action action) {
  switch (type) {
    case Type::f16:
      return action([](std::uint64_t bits) { return decoded_element<Number>(Type::f16, bits); });
    case Type::bf16:
      return action([](std::uint64_t bits) { return decoded_element<Number>(Type::bf16, bits); });
    case Type::tf32:
      return action([](std::uint64_t bits) { return decoded_element<Number>(Type::tf32, bits); });
    case Type::f32:
      return action([](std::uint64_t bits) { return decoded_element<Number>(Type::f32, bits); });
    default:
      return action([type](std::uint64_t bits) { return decoded_element<Number>(type, bits); });
  }
}

}  // namespace opgate::simulator
