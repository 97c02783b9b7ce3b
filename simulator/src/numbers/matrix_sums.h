// How the products of matrices are added whose sums have 32 bits or less.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "numbers/matrix_product.h"

namespace opgate::simulator {
namespace matrix_sums {
struct Range;
struct Precision;
}  // namespace matrix_sums

/// Columns that are computed side by side.
constexpr std::size_t kStripColumns = 8;
constexpr std::size_t kMostInRow = 32;  ///< numbers of a row of `a`

/// Which instruction multiplies: `mma` of a warp, or `wgmma` of four. They add numbers of eight bits
/// differently.
enum class Multiplier : std::uint8_t { of_warp, of_warpgroup };

/// The factor `b` of a product, with as many columns as there are, a multiple of those of a strip.
class ColumnsOfProduct {
 public:
  /// `b` has `product.k` rows of so many columns.
  ColumnsOfProduct(Multiplier multiplier, const Product& product, const float* b, std::size_t columns);
  ColumnsOfProduct(const ColumnsOfProduct&) = delete;
  ColumnsOfProduct& operator=(const ColumnsOfProduct&) = delete;

  /// Adds the products of the rows of `a` to the rows of `sums`, as an H100 does it.
  void multiply(const float* a, float* sums) const;

 private:
  void multiply_widened(const float* a, float* sums) const;
  void add_rows(const float* a, const matrix_sums::Range& range, const matrix_sums::Precision& precision,
                float* sums) const;

  Multiplier multiplier_;
  Product product_;
  std::size_t columns_;
  /// The numbers, strip by strip, and in each in the order in which products are added.
  float* strips_ = nullptr;
  std::int32_t* exponents_ = nullptr;  ///< of the powers of two below them
  /// Where these are: those of a warp here.
  alignas(64) std::array<float, kMostFactors> few_strips_;
  alignas(64) std::array<std::int32_t, kMostFactors> few_exponents_;
  std::unique_ptr<float[]> many_strips_;
  std::unique_ptr<std::int32_t[]> many_exponents_;
  bool is_usual_ = false;  ///< whether single precision is enough for them
};

/// Adds to the sums the products of the rows of `a` with so many columns of `b`, which has them in
/// `product.k` rows. The sums wrap, or saturate.
void add_products_of_integers(const Product& product, const std::int32_t* a, const std::int32_t* b,
                              std::size_t columns, std::int32_t* sums);

/// Converts elements of matrices, whose bits follow each other as in registers. `count` is a multiple of the
/// columns of a strip.
void widen_elements(Type type, const unsigned char* elements, std::size_t count, float* to);
void widen_elements(Type type, const unsigned char* elements, std::size_t count, std::int32_t* to);
void narrow_elements(Type type, const float* from, std::size_t count, unsigned char* elements);

}  // namespace opgate::simulator
