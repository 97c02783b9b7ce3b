// How an H100 adds the products of matrices whose sums have single precision or less. PTX leaves it open;
// this is what products of random and of special numbers on a card have in common, bit for bit
// (cpp_tests/card).
#include <algorithm>
#include <cmath>
#include <vector>

#include "simulator/numbers/matrix_product.h"
#include "simulator/numbers/small_floats.h"
#include "simulator/numbers/values.h"

namespace opgate::simulator {
namespace matrix_sums {

// The products of a block and the sum so far are cut off so many bits behind the leading one of the largest
// of them, and what is left is added exactly.
constexpr int kFractionBits = 25;
constexpr int kNoExponent = -100'000;  // of zero

bool is_byte(Type type) { return type == Type::e4m3 || type == Type::e5m2; }

bool is_quad(const Product& product) { return product.m == 8 && product.k == 4; }

// The order in which blocks take products. Numbers of eight bits are widened to halves first, two of each
// four at a time.
std::vector<std::size_t> order_of(const Product& product) {
  std::vector<std::size_t> order;
  const bool in_pairs = is_byte(product.a);
  for (std::size_t k = 0; k < product.k; ++k) {
    if (!in_pairs || k % 4 < 2) order.push_back(k);
  }
  for (std::size_t k = 0; in_pairs && k < product.k; ++k) {
    if (k % 4 >= 2) order.push_back(k);
  }
  return order;
}

std::size_t block_of(const Product& product) {
  if (is_byte(product.a)) return product.k / 2;
  return product.a == Type::tf32 && product.n == 16 ? 4 : 16;  // wmma of tf32 is made of products of four
}

int exponent_of(float value) { return value == 0 ? kNoExponent : std::ilogb(value); }

// Towards zero.
float cut_to_float(double value) {
  const auto nearest = static_cast<float>(value);
  return std::isfinite(nearest) && std::fabs(double{nearest}) > std::fabs(value)
             ? std::nextafter(nearest, 0.0f)
             : nearest;
}

// Rounded again, to a half, it gives what rounding the value would have given.
float odd_float(double value) {
  const float cut = cut_to_float(value);
  return cut == value || !std::isfinite(cut) ? cut : from_bits<float>(to_bits(cut) | 1);
}

/// One row of `a` and one column of `b`.
struct Line {
  const Product& product;
  const float* a;
  const float* b;
  const int* a_exponents;
  const int* b_exponents;

  double product_at(std::size_t k) const { return double{a[k]} * b[k * product.n]; }
  int exponent_at(std::size_t k) const { return a_exponents[k] + b_exponents[k * product.n]; }
};

/// `sum` and the products of `count` places.
float add_block(const Line& line, float sum, const std::size_t* places, std::size_t count) {
  int most = exponent_of(sum);
  double plain = sum;
  for (std::size_t i = 0; i < count; ++i) {
    most = std::max(most, line.exponent_at(places[i]));
    plain += line.product_at(places[i]);
  }
  if (!std::isfinite(plain) || most < kNoExponent / 2) return static_cast<float>(plain);
  const double scale = std::ldexp(1.0, kFractionBits - most);
  auto total = static_cast<std::int64_t>(sum * scale);
  for (std::size_t i = 0; i < count; ++i)
    total += static_cast<std::int64_t>(line.product_at(places[i]) * scale);
  const double exact = std::ldexp(static_cast<double>(total), most - kFractionBits);
  const bool in_halves = line.product.c == Type::f16 && line.product.d == Type::f16;
  return in_halves ? odd_float(exact) : cut_to_float(exact);
}

float as_half(float value) { return static_cast<float>(to_double(rounded<Half>(value))); }

// Made of halves, and `c` is added last.
float sum_of_bytes(const Line& line, float c, const std::vector<std::size_t>& order, std::size_t block) {
  const bool in_halves = line.product.d == Type::f16;
  float sum = 0;
  for (std::size_t first = 0; first < order.size(); first += block) {
    sum = add_block(line, sum, order.data() + first, block);
    if (in_halves) sum = as_half(sum);
  }
  return in_halves ? odd_float(double{c} + sum) : c + sum;
}

// mma.m8n8k4, which the card has no instruction for: fused multiplications and additions.
float sum_of_quad(const Line& line, float c) {
  const bool in_halves = line.product.d == Type::f16;
  float sum = in_halves ? c : 0;
  for (std::size_t k = 0; k < line.product.k; ++k) sum = static_cast<float>(sum + line.product_at(k));
  return in_halves ? sum : c + sum;
}

}  // namespace matrix_sums

void multiply(const Product& product, Matrices<Singles>& matrices) {
  using namespace matrix_sums;
  const std::vector<std::size_t> order = order_of(product);
  const std::size_t block = std::min<std::size_t>(block_of(product), product.k);
  std::array<int, kMostFactors> a_exponents;
  std::array<int, kMostFactors> b_exponents;
  std::transform(matrices.a.begin(), matrices.a.begin() + product.m * product.k, a_exponents.begin(),
                 &exponent_of);
  std::transform(matrices.b.begin(), matrices.b.begin() + product.k * product.n, b_exponents.begin(),
                 &exponent_of);
  for (std::size_t i = 0; i < product.m; ++i) {
    for (std::size_t j = 0; j < product.n; ++j) {
      const Line line{product, &matrices.a[i * product.k], &matrices.b[j], &a_exponents[i * product.k],
                      &b_exponents[j]};
      float& sum = matrices.sums[i * product.n + j];
      if (is_quad(product)) {
        sum = sum_of_quad(line, sum);
      } else if (is_byte(product.a)) {
        sum = sum_of_bytes(line, sum, order, block);
      } else {
        for (std::size_t first = 0; first < product.k; first += block)
          sum = add_block(line, sum, order.data() + first, block);
      }
    }
  }
}

}  // namespace opgate::simulator
