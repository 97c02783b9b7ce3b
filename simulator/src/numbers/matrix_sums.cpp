// How an H100, and an H200 in products of warpgroups, adds the products of matrices whose sums have single
// precision or less. PTX leaves it open; this is what products of random and of special numbers on a card
// have in common, bit for bit (tests/card).
#include "numbers/matrix_sums.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "numbers/small_floats.h"
#include "numbers/values.h"

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

// In single precision: the exponent in place of that of zero, and between which ones the largest product of a
// block or the sum before must lie.
constexpr std::int32_t kExponentOfZero = -10000;
constexpr std::int32_t kLeastExponent = -100;
constexpr std::int32_t kMostExponent = 100;

// An exponent that all have.
constexpr int kNoLeast = -1000;

/// The products of a block and the sum so far are cut off so many bits after the leading one of the largest
/// of them, and what is left is added exactly.
struct Precision {
  int fraction_bits;
  bool to_odd;  ///< as cut_to_floats has it
  /// Products are cut off as if smaller factors, but for zero, had these exponents.
  int least_of_a = kNoLeast;
  int least_of_b = kNoLeast;
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
int least_exponent(Type type) { return type == Type::e4m3 ? -6 : -14; }

/// Numbers, and their exponents.
struct Factors {
  const float* values;
  const std::int32_t* exponents;
};

bool is_cut_to_odd(const Product& product) { return product.d == Type::f16 && product.c == Type::f16; }

/// Which of the numbers of a row are multiplied, and how many are added at once: four or more.
struct Range {
  std::size_t begin;
  std::size_t end;
  std::size_t block;
};

// What infinities, NaN and zeros alone add up to.
float plain_sum(const double* row, const double* column, std::size_t columns, std::size_t count,
                float before) {
  double sum = before;
  for (std::size_t k = 0; k < count; ++k) sum += row[k] * column[k * columns];
  return static_cast<float>(sum);
}

namespace any_machine {
#define OPGATE_LANES 2
#define OPGATE_COLUMNS 4
#include "numbers/matrix_rows.h"
#undef OPGATE_COLUMNS
#undef OPGATE_LANES
}  // namespace any_machine

/// What is compiled for one kind of machine.
struct Code {
  decltype(&any_machine::widen_elements) widen_elements;
  decltype(&any_machine::narrow_elements) narrow_elements;
  decltype(&any_machine::round_to_halves) round_to_halves;
  decltype(&any_machine::find_exponents_of) find_exponents_of;
  decltype(&any_machine::arrange_strips) arrange_strips;
  decltype(&any_machine::add_rows) add_rows;
  decltype(&any_machine::add_halves_to_odd) add_halves_to_odd;
  decltype(&any_machine::widen_integers) widen_integers;
  decltype(&any_machine::add_integers) add_integers;
};

#define OPGATE_CODE_OF(machine)                                                       \
  {                                                                                   \
    &machine::widen_elements, &machine::narrow_elements, &machine::round_to_halves,   \
        &machine::find_exponents_of, &machine::arrange_strips, &machine::add_rows,    \
        &machine::add_halves_to_odd, &machine::widen_integers, &machine::add_integers \
  }

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)

#pragma GCC push_options
#pragma GCC target("avx2")
namespace avx2 {
#define OPGATE_LANES 4
#define OPGATE_COLUMNS 8
#include "numbers/matrix_rows.h"
#undef OPGATE_COLUMNS
#undef OPGATE_LANES
}  // namespace avx2
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx512f,avx512vl,avx512dq,avx512bw,prefer-vector-width=512")
namespace avx512 {
#define OPGATE_LANES 8
#define OPGATE_COLUMNS 8
#include "numbers/matrix_rows.h"
#undef OPGATE_COLUMNS
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

OPGATE_INLINED const Code& code() {
  static const Code chosen = code_of_this_machine();
  return chosen;
}

#undef OPGATE_CODE_OF

// mma.m8n8k4, which the card has no instruction for: fused multiplications and additions.
float sum_of_quad(const float* row, const float* column, float c, bool in_halves) {
  constexpr std::size_t kProducts = 4;
  float sum = in_halves ? c : 0;
  for (std::size_t k = 0; k < kProducts; ++k)
    sum = static_cast<float>(sum + double{row[k]} * column[k * kStripColumns]);
  return in_halves ? sum : c + sum;
}

}  // namespace matrix_sums

ColumnsOfProduct::ColumnsOfProduct(Multiplier multiplier, const Product& product, const float* b,
                                   std::size_t columns)
    : multiplier_(multiplier), product_(product), columns_(columns) {
  using namespace matrix_sums;
  strips_ = few_strips_.data();
  exponents_ = few_exponents_.data();
  if (product.k * columns > kMostFactors) {
    many_strips_ = std::make_unique_for_overwrite<float[]>(product.k * columns);
    many_exponents_ = std::make_unique_for_overwrite<std::int32_t[]>(product.k * columns);
    strips_ = many_strips_.get();
    exponents_ = many_exponents_.get();
  }
  const int least = multiplies_bytes(multiplier, product) ? least_exponent(product.b) : kNoLeast;
  code().arrange_strips(b, columns, order_of(multiplier, product), product.k, strips_);
  is_usual_ = code().find_exponents_of(strips_, product.k * columns, least, exponents_);
}

void ColumnsOfProduct::multiply(const float* a, float* sums) const {
  using namespace matrix_sums;
  if (is_quad(product_)) {
    for (std::size_t i = 0; i < product_.m; ++i) {
      for (std::size_t j = 0; j < columns_; ++j) {
        float& sum = sums[i * columns_ + j];
        sum = sum_of_quad(a + i * product_.k, strips_ + j, sum, product_.d == Type::f16);
      }
    }
  } else if (is_widened(multiplier_, product_)) {
    multiply_widened(a, sums);
  } else if (multiplies_bytes(multiplier_, product_)) {
    const Precision precision{kFractionBitsOfBytes, is_cut_to_odd(product_), least_exponent(product_.a),
                              least_exponent(product_.b)};
    add_rows(a, {0, product_.k, block_of(multiplier_, product_)}, precision, sums);
    if (product_.d != Type::f16) cut_sums_of_bytes(sums, product_.m * columns_);
  } else {
    add_rows(a, {0, product_.k, block_of(multiplier_, product_)}, {kFractionBits, is_cut_to_odd(product_)},
             sums);
  }
}

// Made of halves, and `c` is added last.
void ColumnsOfProduct::multiply_widened(const float* a, float* sums) const {
  using namespace matrix_sums;
  const std::size_t k = product_.k;
  const std::size_t block = block_of(multiplier_, product_);
  const Order order = order_of(multiplier_, product_);
  std::array<float, kMostFactors> ordered;
  for (std::size_t i = 0; i < product_.m; ++i) {
    for (std::size_t place = 0; place < k; ++place) ordered[i * k + place] = a[i * k + order[place]];
  }
  const std::size_t count = product_.m * columns_;
  std::array<float, kMostSums> of_products{};
  for (std::size_t first = 0; first < k; first += block) {
    add_rows(ordered.data(), {first, first + block, block}, {kFractionBits, is_cut_to_odd(product_)},
             of_products.data());
    if (product_.d == Type::f16) code().round_to_halves(of_products.data(), count);
  }
  if (product_.d == Type::f16) {
    code().add_halves_to_odd(of_products.data(), count, sums);
  } else {
    for (std::size_t i = 0; i < count; ++i) sums[i] += of_products[i];
  }
}

void ColumnsOfProduct::add_rows(const float* a, const matrix_sums::Range& range,
                                const matrix_sums::Precision& precision, float* sums) const {
  using namespace matrix_sums;
  std::array<std::int32_t, kMostFactors> exponents;
  const bool is_usual = code().find_exponents_of(a, std::size_t{product_.m} * product_.k,
                                                 precision.least_of_a, exponents.data()) &&
                        is_usual_;
  code().add_rows({a, exponents.data()}, product_.m, {strips_, exponents_}, product_.k, range, is_usual,
                  precision, sums, columns_);
}

void widen_elements(Type type, const unsigned char* elements, std::size_t count, float* to) {
  matrix_sums::code().widen_elements(type, elements, count, to);
}

void widen_elements(Type type, const unsigned char* elements, std::size_t count, std::int32_t* to) {
  matrix_sums::code().widen_integers(type, elements, count, to);
}

void narrow_elements(Type type, const float* from, std::size_t count, unsigned char* elements) {
  matrix_sums::code().narrow_elements(type, from, count, elements);
}

void add_products_of_integers(const Product& product, const std::int32_t* a, const std::int32_t* b,
                              std::size_t columns, std::int32_t* sums) {
  matrix_sums::code().add_integers(product, a, b, columns, sums);
}

}  // namespace opgate::simulator

#undef OPGATE_INLINED
