#include "simulator/numbers/matrix_product.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "simulator/numbers/small_floats.h"
#include "simulator/numbers/values.h"

namespace opgate::simulator {
namespace matrix_product {

// Rows have a multiple of so many elements: compilers compute as many sums at once, where they know the
// number.
constexpr std::size_t kSideBySide = 8;

template <class Numbers, class Step>
void add_products(const Product& product, Matrices<Numbers>& matrices, Step step) {
  for (std::size_t i = 0; i < product.m; ++i) {
    for (std::size_t first = 0; first < product.n; first += kSideBySide) {
      std::array<typename Numbers::Sum, kSideBySide> sums;
      auto* const row = matrices.sums.data() + i * product.n + first;
      std::copy_n(row, kSideBySide, sums.data());
      for (std::size_t k = 0; k < product.k; ++k) {
        const auto a = matrices.a[i * product.k + k];
        const auto* const b = matrices.b.data() + k * product.n + first;
        for (std::size_t j = 0; j < kSideBySide; ++j) sums[j] = step(sums[j], a, b[j]);
      }
      std::copy_n(sums.data(), kSideBySide, row);
    }
  }
}

}  // namespace matrix_product

void multiply(const Product& product, Matrices<Doubles>& matrices) {
  matrix_product::add_products(product, matrices, [](double sum, double a, double b) {
    // Of several NaNs, that of `b` is passed on, and then that of the sum.
    if (b != b) return quieted(b);
    return sum != sum ? quieted(sum) : std::fma(a, b, sum);
  });
}

void multiply(const Product& product, Matrices<Integers>& matrices) {
  matrix_product::add_products(product, matrices, [](std::int64_t sum, std::int32_t a, std::int32_t b) {
    return sum + std::int64_t{a} * b;
  });
}

template <>
float decoded_element<float>(Type type, std::uint64_t bits) {
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
double decoded_element<double>(Type, std::uint64_t bits) {
  return from_bits<double>(bits);
}

template <>
std::int32_t decoded_element<std::int32_t>(Type type, std::uint64_t bits) {
  return type == Type::s8 ? static_cast<std::int8_t>(bits) : static_cast<std::uint8_t>(bits);
}

template <>
std::int64_t decoded_element<std::int64_t>(Type, std::uint64_t bits) {
  return static_cast<std::int32_t>(bits);
}

std::uint64_t encoded_element(const Product& product, float sum) {
  return product.d == Type::f16 ? to_bits(rounded<Half>(sum)) : to_bits(with_one_nan(sum));
}

std::uint64_t encoded_element(const Product&, double sum) { return to_bits(sum); }

std::uint64_t encoded_element(const Product& product, std::int64_t sum) {
  using Limits = std::numeric_limits<std::int32_t>;
  if (product.saturates) sum = std::clamp<std::int64_t>(sum, Limits::min(), Limits::max());
  return static_cast<std::uint32_t>(sum);
}

}  // namespace opgate::simulator
