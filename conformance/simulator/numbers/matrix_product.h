// Products of matrices, without how their elements lie in registers.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "simulator/ptx/types.h"

namespace opgate::simulator {

/// d = a * b + c, where `a` has m rows and k columns, and `b` has k rows and n columns. It fits into the
/// immediate of an instruction.
struct Product {
  std::uint8_t m = 0;
  std::uint8_t n = 0;
  std::uint8_t k = 0;
  Type d = Type::none;
  Type a = Type::none;
  Type b = Type::none;
  Type c = Type::none;
  bool saturates = false;  ///< integers: the sum becomes the nearest one that 32 bits hold

  std::int64_t packed() const { return std::bit_cast<std::int64_t>(*this); }
  static Product unpacked(std::int64_t bits) { return std::bit_cast<Product>(bits); }
};

constexpr std::size_t kMostFactors = 512;  ///< elements of `a` or of `b`
constexpr std::size_t kMostSums = 256;     ///< elements of `c`
/// The index of an element that is in none of the matrices: behind the last one of `a` and `b`.
constexpr std::uint16_t kNoElement = kMostFactors;

/// In what elements are multiplied, and in what they are added.
struct Singles {
  using Factor = float;
  using Sum = float;
};
struct Doubles {
  using Factor = double;
  using Sum = double;
};
struct Integers {
  using Factor = std::int32_t;
  using Sum = std::int64_t;
};

/// Row by row. `sums` is `c` at first, and then the result.
template <class Numbers>
struct Matrices {
  std::array<typename Numbers::Factor, kMostFactors + 1> a;
  std::array<typename Numbers::Factor, kMostFactors + 1> b;
  std::array<typename Numbers::Sum, kMostSums> sums;
};

/// Adds the products. PTX leaves the order of the additions open, and how a sum is rounded; in single
/// precision they are added as an H100 does it (matrix_sums.cpp). In double precision each step is one fused
/// multiplication and addition. Integers are added exactly.
void multiply(const Product& product, Matrices<Singles>& matrices);
void multiply(const Product& product, Matrices<Doubles>& matrices);
void multiply(const Product& product, Matrices<Integers>& matrices);

/// Bits of an element in a register, which holds one or more of them.
inline unsigned bits_of_element(Type type) { return static_cast<unsigned>(bytes_of(type)) * 8; }
/// How many elements a register holds.
inline unsigned elements_of_register(Type type) { return type == Type::f64 ? 1 : 32 / bits_of_element(type); }

}  // namespace opgate::simulator
