// How an H100, and an H200 in products of warpgroups, adds the products of matrices whose sums have single
// precision or less. PTX leaves it open; this is what products of random and of special numbers on a card
// have in common, bit for bit (cpp_tests/card).
#include "simulator/numbers/matrix_sums.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "simulator/numbers/small_floats.h"
#include "simulator/numbers/values.h"

#define OPGATE_INLINED [[gnu::always_inline]] inline

namespace opgate::simulator {
namespace matrix_sums {

/// Places of the numbers of a row.
using Order = std::array<std::uint8_t, kMostInRow>;

bool is_byte(Type type) { return type == Type::e4m3 || type == Type::e5m2; }

// Numbers of eight bits are widened to halves, unless the tensor core multiplies them as they are.
bool is_widened(Multiplier multiplier, const Product& product) {
  return is_byte(product.a) && multiplier == Multiplier::of_warp;
}

bool multiplies_bytes(Multiplier multiplier, const Product& product) {
  return is_byte(product.a) && multiplier == Multiplier::of_warpgroup;
}

bool is_quad(const Product& product) { return product.m == 8 && product.k == 4; }

// The order in which blocks take products. Numbers of eight bits are widened two of each four at a time.
Order order_of(Multiplier multiplier, const Product& product) {
  Order order{};
  const bool in_pairs = is_widened(multiplier, product);
  std::size_t place = 0;
  for (std::uint8_t k = 0; k < product.k; ++k) {
    if (!in_pairs || k % 4 < 2) order[place++] = k;
  }
  for (std::uint8_t k = 0; in_pairs && k < product.k; ++k) {
    if (k % 4 >= 2) order[place++] = k;
  }
  return order;
}

std::size_t block_of(Multiplier multiplier, const Product& product) {
  if (multiplies_bytes(multiplier, product)) return product.k;
  if (is_byte(product.a)) return product.k / 2u;
  // wmma of tf32 is made of products of four
  return std::min<std::size_t>(product.a == Type::tf32 && product.n == 16 ? 4 : 16, product.k);
}

constexpr std::int64_t kBitsOfPower = 0x7ff0000000000000;
constexpr std::int64_t kBitOfSign = std::numeric_limits<std::int64_t>::min();

// In place of the power of two below zero: below all others and their products, but infinite if multiplied by
// infinity.
constexpr double kPowerOfZero = 0x1p-600;
constexpr double kLeastPower = 0x1p-500;

/// The products of a block and the sum so far are cut off so many bits behind the leading one of the largest
/// of them, and what is left is added exactly.
struct Precision {
  /// The bits of a power of two taken from these are those of 2 to the number of bits divided by it.
  std::int64_t bits_of_scale;
  double unit;  ///< what the last bit stands for if the leading one stands for 1
  bool to_odd;  ///< as cut_to_floats has it

  Precision(int fraction_bits, bool odd)
      : bits_of_scale(std::int64_t{2 * 1023 + fraction_bits} << 52),
        unit(1 / static_cast<double>(std::uint64_t{1} << fraction_bits)),
        to_odd(odd) {}
};

constexpr int kFractionBits = 25;
constexpr int kFractionBitsOfBytes = 13;

// Sums of numbers of eight bits, which floats hold exactly, keep as few bits as their products. Those that
// become halves are rounded once instead.
void cut_sums_of_bytes(float* sums, std::size_t count) {
  constexpr std::uint32_t kKept = ~std::uint32_t{0} << (23 - kFractionBitsOfBytes);
  for (std::size_t i = 0; i < count; ++i)
    sums[i] = std::bit_cast<float>(std::bit_cast<std::uint32_t>(sums[i]) & kKept);
}

// Where numbers of eight bits are multiplied as they are, products are cut off as if their subnormal factors
// were the least normal number.
void raise_subnormals(Type type, double* powers, std::size_t count) {
  const double least = type == Type::e4m3 ? 0x1p-6 : 0x1p-14;
  for (std::size_t i = 0; i < count; ++i) {
    if (powers[i] != kPowerOfZero) powers[i] = std::max(powers[i], least);
  }
}

float as_half(float value) { return static_cast<float>(to_double(rounded<Half>(value))); }

/// Numbers, and the powers of two below them.
struct Numbers {
  const double* values;
  const double* powers;

  [[gnu::always_inline]] Numbers behind(std::size_t count) const { return {values + count, powers + count}; }
};

/// Which of the numbers of a row are multiplied, and how many are added at once: four or more.
struct Range {
  std::size_t begin;
  std::size_t end;
  std::size_t block;
};

// What infinities, NaN and zeros alone add up to.
float plain_sum(const Numbers& row, const Numbers& strip, std::size_t column, std::size_t count,
                float before) {
  double sum = before;
  for (std::size_t k = 0; k < count; ++k) sum += row.values[k] * strip.values[k * kStripColumns + column];
  return static_cast<float>(sum);
}

namespace any_machine {
#define OPGATE_LANES 2
#include "simulator/numbers/matrix_rows.h"
#undef OPGATE_LANES
}  // namespace any_machine

/// What is compiled for one kind of machine.
struct Code {
  decltype(&any_machine::widen_halves) widen_halves;
  decltype(&any_machine::spread) spread;
  decltype(&any_machine::spread_strips) spread_strips;
  decltype(&any_machine::add_rows) add_rows;
};

#define OPGATE_CODE_OF(machine) \
  { &machine::widen_halves, &machine::spread, &machine::spread_strips, &machine::add_rows }

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)

#pragma GCC push_options
#pragma GCC target("avx2")
namespace avx2 {
#define OPGATE_LANES 4
#include "simulator/numbers/matrix_rows.h"
#undef OPGATE_LANES
}  // namespace avx2
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx512f,avx512vl,avx512dq,avx512bw,prefer-vector-width=512")
namespace avx512 {
#define OPGATE_LANES 8
#include "simulator/numbers/matrix_rows.h"
#undef OPGATE_LANES
}  // namespace avx512
#pragma GCC pop_options

Code code_of_this_machine() {
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw"))
    return OPGATE_CODE_OF(avx512);
  if (__builtin_cpu_supports("avx2")) return OPGATE_CODE_OF(avx2);
  return OPGATE_CODE_OF(any_machine);
}

#else

Code code_of_this_machine() { return OPGATE_CODE_OF(any_machine); }

#endif

const Code& code() {
  static const Code chosen = code_of_this_machine();
  return chosen;
}

#undef OPGATE_CODE_OF

float odd_float(double value) {
  any_machine::Floats all;
  any_machine::cut_to_floats(all, value + any_machine::Doubles{}, /*odd=*/true);
  return all[0];
}

// mma.m8n8k4, which the card has no instruction for: fused multiplications and additions.
float sum_of_quad(const Numbers& row, const double* column, float c, bool in_halves) {
  constexpr std::size_t kProducts = 4;
  float sum = in_halves ? c : 0;
  for (std::size_t k = 0; k < kProducts; ++k)
    sum = static_cast<float>(sum + row.values[k] * column[k * kStripColumns]);
  return in_halves ? sum : c + sum;
}

}  // namespace matrix_sums

ColumnsOfProduct::ColumnsOfProduct(Multiplier multiplier, const Product& product, const float* b,
                                   std::size_t columns)
    : multiplier_(multiplier),
      product_(product),
      columns_(columns),
      numbers_(std::make_unique_for_overwrite<double[]>(2 * product.k * columns)) {
  using namespace matrix_sums;
  const std::size_t factors = product.k * columns;
  double* const powers = numbers_.get() + factors;
  code().spread_strips(b, columns, order_of(multiplier, product), product.k, numbers_.get(), powers);
  if (multiplies_bytes(multiplier, product)) raise_subnormals(product.b, powers, factors);
}

void ColumnsOfProduct::multiply(const float* a, float* sums) const {
  using namespace matrix_sums;
  const std::size_t k = product_.k;
  const std::size_t block = block_of(multiplier_, product_);
  const std::size_t factors = product_.m * k;
  const bool ends_in_halves = product_.d == Type::f16;
  const Precision precision(multiplies_bytes(multiplier_, product_) ? kFractionBitsOfBytes : kFractionBits,
                            ends_in_halves && product_.c == Type::f16);
  std::array<double, kMostFactors> values;
  std::array<double, kMostFactors> powers;
  const Numbers rows{values.data(), powers.data()};
  const Numbers strips{numbers_.get(), numbers_.get() + k * columns_};
  if (is_quad(product_)) {
    code().spread(a, factors, values.data(), powers.data());
    for (std::size_t i = 0; i < product_.m; ++i) {
      for (std::size_t j = 0; j < columns_; ++j) {
        float& sum = sums[i * columns_ + j];
        sum = sum_of_quad(rows.behind(i * k), strips.values + j, sum, ends_in_halves);
      }
    }
  } else if (is_widened(multiplier_, product_)) {
    // Made of halves, and `c` is added last.
    const Order order = order_of(multiplier_, product_);
    std::array<float, kMostFactors> ordered;
    for (std::size_t i = 0; i < factors; ++i) ordered[i] = a[i / k * k + order[i % k]];
    code().spread(ordered.data(), factors, values.data(), powers.data());
    std::vector<float> of_products(product_.m * columns_);
    for (std::size_t first = 0; first < k; first += block) {
      code().add_rows(rows, product_.m, strips, k, {first, first + block, block}, precision,
                      of_products.data(), columns_);
      for (float& sum : of_products) sum = ends_in_halves ? as_half(sum) : sum;
    }
    for (std::size_t i = 0; i < of_products.size(); ++i)
      sums[i] = ends_in_halves ? odd_float(double{sums[i]} + of_products[i]) : sums[i] + of_products[i];
  } else {
    const bool of_bytes = multiplies_bytes(multiplier_, product_);
    code().spread(a, factors, values.data(), powers.data());
    if (of_bytes) raise_subnormals(product_.a, powers.data(), factors);
    code().add_rows(rows, product_.m, strips, k, {0, k, block}, precision, sums, columns_);
    if (of_bytes && !ends_in_halves) cut_sums_of_bytes(sums, product_.m * columns_);
  }
}

void widen_halves(const std::uint16_t* halves, std::size_t count, float* to) {
  matrix_sums::code().widen_halves(halves, count, to);
}

void multiply(const Product& product, Matrices<Singles>& matrices) {
  ColumnsOfProduct(Multiplier::of_warp, product, matrices.b.data(), product.n)
      .multiply(matrices.a.data(), matrices.sums.data());
}

}  // namespace opgate::simulator

#undef OPGATE_INLINED
