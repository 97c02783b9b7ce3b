// Elements of matrices that are multiplied.
#pragma once

#include <cstdint>
#include <random>
#include <string>

namespace opgate::card {

enum class Numbers {
  integers,  ///< small ones, so that no sum is rounded and every bit counts
  any,       ///< whose sums are rounded, in an order that PTX leaves open
  special,   ///< infinities, NaN, zeros and large numbers among them
};

/// The bits of an element of this type in PTX: "f16", "tf32", "e4m3", "s8".
unsigned bits_of_type(const std::string& type);

/// The bits of a number from -4 to 4, exactly, or of any number, or of a special one. Those of integers of
/// eight bits are random.
std::uint64_t element_bits(const std::string& type, bool is_factor, Numbers numbers, std::mt19937_64& random);

}  // namespace opgate::card
