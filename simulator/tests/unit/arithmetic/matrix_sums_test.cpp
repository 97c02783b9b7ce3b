// How the products of matrices are added, against the same rule for one sum at a time in double precision:
// also of numbers so small, so large or so special that they are added in another way than most.
#include "numbers/matrix_sums.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "numbers/small_floats.h"

namespace opgate::simulator::tests {
namespace matrix_sums_test {

constexpr int kFractionBits = 25;
constexpr std::size_t kColumns = 8;

// Products and the sum so far are cut off 25 bits after the leading one of the largest of them, as their
// factors have it, and added exactly. The value is not rounded yet.
double exact_sum(const std::vector<float>& a, const std::vector<float>& b, float before) {
  int most = std::numeric_limits<int>::min();
  double plain = before;
  bool is_special = !std::isfinite(before);
  if (before != 0 && std::isfinite(before)) most = std::ilogb(before);
  for (std::size_t k = 0; k < a.size(); ++k) {
    plain += double{a[k]} * b[k];
    is_special |= !std::isfinite(a[k]) || !std::isfinite(b[k]);
    if (a[k] != 0 && b[k] != 0 && !is_special) most = std::max(most, std::ilogb(a[k]) + std::ilogb(b[k]));
  }
  if (is_special || most == std::numeric_limits<int>::min()) return plain;
  const auto kept = [&](double number) { return std::trunc(std::ldexp(number, kFractionBits - most)); };
  double total = kept(before);
  for (std::size_t k = 0; k < a.size(); ++k) total += kept(double{a[k]} * b[k]);
  return std::ldexp(total, most - kFractionBits);
}

float cut_off(double value) {
  const auto nearest = static_cast<float>(value);
  return std::abs(double{nearest}) > std::abs(value) ? std::nextafter(nearest, 0.0f) : nearest;
}

std::uint32_t bits_of(float value) {
  return value != value ? 0x7fffffff : std::bit_cast<std::uint32_t>(value);
}

/// Numbers that a type holds: with how many bits of fraction, and between which exponents.
struct Numbers {
  int fraction_bits;
  int least;
  int most;
  unsigned zeros = 0;     ///< of 16
  unsigned specials = 0;  ///< of 256: infinity and NaN

  float draw(std::mt19937& random) const {
    const float sign = random() % 2 == 0 ? 1.0f : -1.0f;
    if (random() % 16 < zeros) return sign * 0;
    if (random() % 256 < specials) {
      return random() % 2 == 0 ? sign * std::numeric_limits<float>::infinity()
                               : std::numeric_limits<float>::quiet_NaN();
    }
    const auto fraction = static_cast<double>(random() % (1u << fraction_bits));
    const int exponent = least + static_cast<int>(random() % static_cast<unsigned>(most - least + 1));
    return sign * static_cast<float>(std::ldexp(1 + std::ldexp(fraction, -fraction_bits), exponent));
  }
};

void expect_sums(const Product& product, const Numbers& of_a, const Numbers& of_b, const Numbers& of_sums,
                 std::mt19937& random) {
  std::vector<float> a(std::size_t{product.m} * product.k);
  std::vector<float> b(product.k * kColumns);
  std::vector<float> before(product.m * kColumns);
  for (float& number : a) number = of_a.draw(random);
  for (float& number : b) number = of_b.draw(random);
  for (float& number : before) number = of_sums.draw(random);
  std::vector<float> after = before;
  ColumnsOfProduct(Multiplier::of_warp, product, b.data(), kColumns).multiply(a.data(), after.data());
  for (std::size_t i = 0; i < product.m; ++i) {
    for (std::size_t j = 0; j < kColumns; ++j) {
      std::vector<float> row(a.begin() + static_cast<std::ptrdiff_t>(i * product.k),
                             a.begin() + static_cast<std::ptrdiff_t>((i + 1) * product.k));
      std::vector<float> column;
      for (std::size_t k = 0; k < product.k; ++k) column.push_back(b[k * kColumns + j]);
      const double expected = exact_sum(row, column, before[i * kColumns + j]);
      const float found = after[i * kColumns + j];
      if (product.d == Type::f16) {
        ASSERT_EQ(rounded<Half>(found).bits, rounded<Half>(expected).bits) << i << " " << j;
      } else {
        ASSERT_EQ(bits_of(found), bits_of(cut_off(expected))) << i << " " << j << " " << expected;
      }
    }
  }
}

void expect_sums(const Product& product, const Numbers& factors, const Numbers& sums, std::mt19937& random) {
  expect_sums(product, factors, factors, sums, random);
}

constexpr Product kSingle{16, kColumns, 8, Type::f32, Type::tf32, Type::tf32, Type::f32};
constexpr Product kShort{16, kColumns, 4, Type::f32, Type::tf32, Type::tf32, Type::f32};
constexpr Product kBfloat{16, kColumns, 16, Type::f32, Type::bf16, Type::bf16, Type::f32};
constexpr Product kHalf{16, kColumns, 16, Type::f32, Type::f16, Type::f16, Type::f32};
constexpr Product kInHalves{16, kColumns, 16, Type::f16, Type::f16, Type::f16, Type::f16};

constexpr int kRounds = 100;

TEST(MatrixSums, OfUsualNumbers) {
  std::mt19937 random(1);
  for (int round = 0; round < kRounds; ++round) {
    expect_sums(kSingle, {10, -10, 3}, {23, -20, 8}, random);
    expect_sums(kShort, {10, -10, 3}, {23, -20, 8}, random);
    expect_sums(kBfloat, {7, -10, 3}, {23, -20, 8}, random);
    expect_sums(kHalf, {10, -14, 15}, {23, -40, 30}, random);
    expect_sums(kInHalves, {10, -7, 3}, {10, -14, 8}, random);
  }
}

// 16 products and a sum that are all as large as they can be need 33 bits.
TEST(MatrixSums, OfTheLargestNumbers) {
  std::vector<float> a(16 * 16, 2 - 0x1p-10f);
  std::vector<float> b(16 * kColumns, 2 - 0x1p-10f);
  std::vector<float> sums(16 * kColumns, 2 - 0x1p-23f);
  const double expected = exact_sum(std::vector<float>(16, a[0]), std::vector<float>(16, b[0]), sums[0]);
  for (const float sign : {1.0f, -1.0f}) {
    std::vector<float> after;
    for (const float sum : sums) after.push_back(sign * sum);
    std::vector<float> rows = a;
    for (float& number : rows) number *= sign;
    ColumnsOfProduct(Multiplier::of_warp, kHalf, b.data(), kColumns).multiply(rows.data(), after.data());
    for (const float sum : after) EXPECT_EQ(sum, sign * cut_off(expected));
  }
}

TEST(MatrixSums, OfZeros) {
  std::mt19937 random(3);
  for (int round = 0; round < kRounds; ++round) {
    for (const unsigned zeros : {8u, 13u, 16u}) {
      expect_sums(kSingle, {10, -10, 3, zeros}, {23, -20, 8, 12}, random);
      expect_sums(kHalf, {10, -10, 3, zeros}, {23, -20, 8, 16}, random);
      expect_sums(kInHalves, {10, -10, 3, zeros}, {10, -14, 8, 12}, random);
    }
  }
}

// Beyond what is added in single precision: the largest product or sum is below 2^-100 or above 2^100, and
// factors are subnormal or large. None of the sums overflows.
TEST(MatrixSums, OfVerySmallAndVeryLargeNumbers) {
  std::mt19937 random(4);
  for (int round = 0; round < kRounds; ++round) {
    expect_sums(kSingle, {10, -80, -20}, {23, -126, -90, 4}, random);
    expect_sums(kSingle, {10, -54, -48, 8}, {23, -110, -90}, random);
    expect_sums(kSingle, {10, -126, 62}, {23, -126, 124}, random);
    expect_sums(kBfloat, {7, 30, 60, 4}, {23, 80, 124, 4}, random);
    expect_sums(kBfloat, {2, -131, 60}, {2, -146, 10}, random);
    expect_sums(kBfloat, {7, -63, 62, 14}, {23, -126, 124, 14}, random);
    expect_sums(kBfloat, {2, -131, -127}, {7, 40, 80}, {23, -100, -60}, random);
    expect_sums(kShort, {2, -131, -127, 14}, {23, -60, 0, 14}, random);
  }
}

TEST(MatrixSums, OfInfinitiesAndNaN) {
  std::mt19937 random(5);
  for (int round = 0; round < kRounds; ++round) {
    expect_sums(kSingle, {10, -10, 3, 2, 4}, {23, -20, 8, 2, 0}, random);
    expect_sums(kBfloat, {7, -10, 3, 2, 0}, {23, -20, 8, 2, 30}, random);
    expect_sums(kHalf, {10, -10, 3, 2, 2}, {23, -20, 8, 2, 2}, random);
    expect_sums(kInHalves, {10, -7, 3, 2, 2}, {10, -14, 8, 2, 2}, random);
  }
}

std::int32_t sum_of_integers(const Product& product, const std::int32_t* row, const std::int32_t* column,
                             std::int32_t before) {
  std::int64_t sum = before;
  for (std::size_t k = 0; k < product.k; ++k) sum += std::int64_t{row[k]} * column[k * kColumns];
  using Limits = std::numeric_limits<std::int32_t>;
  if (product.saturates) sum = std::clamp<std::int64_t>(sum, Limits::min(), Limits::max());
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(sum));
}

TEST(MatrixSums, OfIntegersWrapOrSaturate) {
  std::mt19937 random(6);
  Product product{16, kColumns, 32, Type::s32, Type::s8, Type::u8, Type::s32};
  for (int round = 0; round < kRounds; ++round) {
    product.saturates = round % 2 == 0;
    std::vector<std::int32_t> a(std::size_t{product.m} * product.k);
    std::vector<std::int32_t> b(product.k * kColumns);
    std::vector<std::int32_t> before(product.m * kColumns);
    for (std::int32_t& number : a) number = static_cast<std::int8_t>(random());
    for (std::int32_t& number : b) number = static_cast<std::uint8_t>(random());
    for (std::int32_t& number : before)
      number =
          static_cast<std::int32_t>((random() % 2 == 0 ? 0x7fff0000u : 0x80000000u) + random() % 0x10000);
    std::vector<std::int32_t> after = before;
    add_products_of_integers(product, a.data(), b.data(), kColumns, after.data());
    for (std::size_t i = 0; i < after.size(); ++i) {
      const std::size_t row = i / kColumns;
      ASSERT_EQ(after[i], sum_of_integers(product, &a[row * product.k], &b[i % kColumns], before[i])) << i;
    }
  }
}

/// All elements of a type of 8 or 16 bits.
std::vector<float> all_of(Type type) {
  const std::size_t bytes = bits_of_element(type) / 8;
  const std::size_t count = bytes == 1 ? 256 : 65536;
  std::vector<unsigned char> elements(count * bytes);
  for (std::size_t i = 0; i < count; ++i) std::memcpy(&elements[i * bytes], &i, bytes);
  std::vector<float> numbers(count);
  widen_elements(type, elements.data(), count, numbers.data());
  return numbers;
}

TEST(MatrixElements, AllNumbersOfSmallTypesAreConverted) {
  const auto expect = [](Type type, const auto& number_of) {
    const std::vector<float> found = all_of(type);
    for (std::size_t i = 0; i < found.size(); ++i)
      ASSERT_EQ(bits_of(found[i]), bits_of(static_cast<float>(number_of(i)))) << i;
  };
  expect(Type::f16, [](std::size_t i) { return to_double(Half{static_cast<std::uint16_t>(i)}); });
  expect(Type::bf16, [](std::size_t i) { return to_double(Bfloat16{static_cast<std::uint16_t>(i)}); });
  expect(Type::e4m3, [](std::size_t i) { return decode_e4m3(static_cast<std::uint8_t>(i)); });
  expect(Type::e5m2, [](std::size_t i) { return decode_e5m2(static_cast<std::uint8_t>(i)); });
}

TEST(MatrixElements, SumsAreRoundedToHalves) {
  std::mt19937 random(7);
  std::vector<float> sums(1 << 16);
  for (float& sum : sums) sum = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
  // A quarter of them within the range of halves, and numbers halfway between two of them.
  for (std::size_t i = 0; i < sums.size(); i += 4)
    sums[i] = std::ldexp(static_cast<float>(random() % 8192), static_cast<int>(random() % 44) - 28);
  std::vector<std::uint16_t> halves(sums.size());
  narrow_elements(Type::f16, sums.data(), sums.size(), reinterpret_cast<unsigned char*>(halves.data()));
  for (std::size_t i = 0; i < sums.size(); ++i) ASSERT_EQ(halves[i], rounded<Half>(sums[i]).bits) << sums[i];
}

}  // namespace matrix_sums_test
}  // namespace opgate::simulator::tests
