// Products of matrices, without how their elements lie in registers.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "ptx/types.h"

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
constexpr std::size_t kMostBytes = 2048;   ///< of the elements of a matrix

/// Elements row by row, with the bits that they have in registers, and a place for a register that nothing
/// reads.
using Elements = std::array<unsigned char, kMostBytes + sizeof(std::uint64_t)>;
constexpr std::uint16_t kNowhere = kMostBytes;

struct Matrices {
  alignas(64) Elements a;
  alignas(64) Elements b;
  alignas(64) Elements sums;  ///< `c` at first, and then the result
};

/// Adds the products. PTX leaves the order of the additions open, and how a sum is rounded; in single
/// precision they are added as an H100 does it (matrix_sums.cpp). In double precision each step is one fused
/// multiplication and addition. Integers are added exactly.
void multiply(const Product& product, Matrices& matrices);

/// Bits of an element in a register, which holds one or more of them.
inline unsigned bits_of_element(Type type) { return static_cast<unsigned>(bytes_of(type)) * 8; }
/// How many elements a register holds.
inline unsigned elements_of_register(Type type) { return type == Type::f64 ? 1 : 32 / bits_of_element(type); }

}  // namespace opgate::simulator
