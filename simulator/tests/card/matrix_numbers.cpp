#include "card/matrix_numbers.h"

#include <bit>

namespace opgate::card {

unsigned bits_of_type(const std::string& type) {
  if (type == "f64") return 64;
  if (type == "f16" || type == "bf16") return 16;
  return type == "f32" || type == "tf32" || type == "s32" ? 32 : 8;
}

std::uint64_t element_bits(const std::string& type, bool is_factor, Numbers numbers,
                           std::mt19937_64& random) {
  const std::uint64_t bits = random();
  if (numbers == Numbers::special && random() % 8 != 0) numbers = Numbers::any;
  const int small = static_cast<int>(bits % 9) - 4;
  if (bits_of_type(type) == 8 && type[0] != 'e') return bits & 0xff;
  if (type == "s32") return numbers == Numbers::any ? bits & 0xffffffff : static_cast<std::uint32_t>(small);
  const double value = numbers == Numbers::integers
                           ? small
                           : (static_cast<double>(bits >> 12) * 0x1p-51 - 1) * (is_factor ? 4 : 16);
  if (type == "f64") {
    const std::uint64_t special[] = {0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000,
                                     0x8000000000000000, 0x7fe0000000000000, 1};
    return numbers == Numbers::special ? special[bits % 6] : std::bit_cast<std::uint64_t>(value);
  }
  const auto single = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  if (type == "f32" || type == "tf32") {
    const std::uint32_t special[] = {0x7f800000, 0xff800000, 0x7fc00001, 0x80000000,
                                     0x7f000000, 0x00002000, 0x7f7fffff};
    return numbers == Numbers::special ? special[bits % 7] : single;
  }
  if (type == "bf16") {
    const std::uint32_t special[] = {0x7f80, 0xff80, 0x7fc1, 0x8000, 0x7f00, 0x0001, 0x7f7f};
    return numbers == Numbers::special ? special[bits % 7] : single >> 16;
  }
  // Bits of the exponent that a float has more than the smaller types are taken away; what is cut off is not
  // rounded.
  const std::uint32_t sign = single >> 31;
  const auto exponent = static_cast<int>(single >> 23 & 0xff) - 127;
  const std::uint32_t fraction = single & 0x7fffff;
  const auto packed = [&](unsigned fraction_bits, int bias) -> std::uint64_t {
    const unsigned width = type == "f16" ? 16 : 8;
    if (exponent + bias <= 0) return std::uint64_t{sign} << (width - 1);
    return std::uint64_t{sign} << (width - 1) | static_cast<std::uint64_t>(exponent + bias) << fraction_bits |
           fraction >> (23 - fraction_bits);
  };
  if (type == "f16") {
    const std::uint32_t special[] = {0x7c00, 0xfc00, 0x7e01, 0x8000, 0x7800, 0x0001, 0x7bff};
    return numbers == Numbers::special ? special[bits % 7] : packed(10, 15);
  }
  if (numbers == Numbers::special) return bits & 0xff;
  return type == "e4m3" ? packed(3, 7) : packed(2, 15);
}

}  // namespace opgate::card
