// Values at which instructions go wrong.
#pragma once

#include <cstdint>
#include <vector>

namespace opgate::simulator::tests {

inline const std::vector<std::uint64_t>& edges_of_32_bits() {
  static const std::vector<std::uint64_t> edges{
      0,          1,          2,          3,          7,          31,         32,
      33,         0x7f,       0x80,       0xff,       0x8000,     0xffff,     0x7fffffff,
      0x80000000, 0x80000001, 0xffffffff, 0xfffffffe, 0x12345678, 0x00ff00ff, 0xdeadbeef};
  return edges;
}

inline const std::vector<std::uint64_t>& edges_of_64_bits() {
  static const std::vector<std::uint64_t> edges{0,
                                                1,
                                                2,
                                                63,
                                                64,
                                                65,
                                                0x7fffffff,
                                                0x80000000,
                                                0xffffffff,
                                                0x100000000,
                                                0x7fffffffffffffff,
                                                0x8000000000000000,
                                                0xffffffffffffffff,
                                                0xfffffffffffffffe,
                                                0x123456789abcdef0,
                                                0xdeadbeefcafebabe};
  return edges;
}

inline const std::vector<std::uint64_t>& edges_of_16_bits() {
  static const std::vector<std::uint64_t> edges{0,    1,      2,      15,     16,     17,     0x7f,  0x80,
                                                0xff, 0x7fff, 0x8000, 0x8001, 0xffff, 0xfffe, 0x1234};
  return edges;
}

/// Bits of single precision: zeros, ones, subnormal and extreme numbers, infinities, NaN.
inline const std::vector<std::uint64_t>& edges_of_float() {
  static const std::vector<std::uint64_t> edges{0x00000000, 0x80000000, 0x00000001, 0x807fffff, 0x00800000,
                                                0x80800000, 0x3f800000, 0xbf800000, 0x3f800001, 0x3f7fffff,
                                                0x40490fdb, 0x3dcccccd, 0xc2f6e979, 0x4b800001, 0x7f7fffff,
                                                0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x7e800001};
  return edges;
}

inline const std::vector<std::uint64_t>& edges_of_double() {
  static const std::vector<std::uint64_t> edges{
      0x0000000000000000, 0x8000000000000000, 0x0000000000000001, 0x800fffffffffffff,
      0x0010000000000000, 0x3ff0000000000000, 0xbff0000000000000, 0x3ff0000000000001,
      0x400921fb54442d18, 0x3fb999999999999a, 0xc05edd2f1a9fbe77, 0x7fefffffffffffff,
      0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000, 0x4340000000000001};
  return edges;
}

}  // namespace opgate::simulator::tests
