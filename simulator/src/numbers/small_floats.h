// Numbers of 16 bits and less. Their arithmetic is done in double precision, so that each result is rounded
// once.
#pragma once

#include <cstdint>

#include "ptx/types.h"

namespace opgate::simulator {

struct Half {
  std::uint16_t bits;
};

struct Bfloat16 {
  std::uint16_t bits;
};

/// The bits of a number in a format of IEEE 754 with so many bits of fraction and exponent. NaN becomes the
/// one NaN that the hardware produces: all bits set except the sign.
std::uint64_t encode(double value, int fraction_bits, int exponent_bits, Rounding rounding);

/// The number that these bits stand for.
double decode(std::uint64_t bits, int fraction_bits, int exponent_bits);

/// a + b, where an inexact sum is rounded to the neighbour whose last bit is set. Rounded again, to at most
/// 51 bits, it gives what the exact sum would have given.
double add_to_odd(double a, double b);

/// The smaller or the larger one; of 0 and -0 as if they differed; of a number and NaN, the number.
double extremum(double a, double b, bool smaller);

double to_double(Half value);
double to_double(Bfloat16 value);

template <class Small>
Small rounded(double value, Rounding rounding = Rounding::nearest);
template <>
Half rounded<Half>(double value, Rounding rounding);
template <>
Bfloat16 rounded<Bfloat16>(double value, Rounding rounding);

/// Zero of the same sign for a number that is subnormal in half precision, as `.ftz` asks for. A result is
/// flushed if it would be subnormal when it is rounded to nearest with 11 bits and without a limit of the
/// exponent.
double flushed_half(double value);

/// The single-precision number next to `value` in this direction of rounding.
float rounded_to_float(double value, Rounding rounding);

/// Numbers of eight bits. What is too large becomes the largest number, as `.satfinite` of PTX asks for.
std::uint8_t encode_e4m3(double value);
std::uint8_t encode_e5m2(double value);
double decode_e4m3(std::uint8_t bits);
double decode_e5m2(std::uint8_t bits);

}  // namespace opgate::simulator
