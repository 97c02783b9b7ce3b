// cvt: every pair of types.
#include <algorithm>
#include <cmath>
#include <limits>

#include "reference_floats.h"
#include "snippet.h"

namespace opgate::simulator::tests {
namespace conversion_test {

using U = std::uint64_t;
using Wide = __int128;

struct Integer {
  std::string type;
  int bits;
  bool is_signed;
  std::string letter;  // of a register that can hold it

  Wide value(U source) const {
    if (bits == 64) return is_signed ? Wide{static_cast<std::int64_t>(source)} : Wide{source};
    const U low = source & ((U{1} << bits) - 1);
    return is_signed && (low >> (bits - 1) & 1) != 0
               ? Wide{static_cast<std::int64_t>(low)} - (Wide{1} << bits)
               : Wide{low};
  }
  Wide least() const { return is_signed ? -(Wide{1} << (bits - 1)) : 0; }
  Wide most() const { return (Wide{1} << (is_signed ? bits - 1 : bits)) - 1; }
  Wide clamp(Wide value) const { return std::clamp(value, least(), most()); }
};

const std::vector<Integer>& integers() {
  static const std::vector<Integer> all{
      {"u8", 8, false, "h"},   {"s8", 8, true, "h"},   {"u16", 16, false, "h"},  {"s16", 16, true, "h"},
      {"u32", 32, false, "r"}, {"s32", 32, true, "r"}, {"u64", 64, false, "rd"}, {"s64", 64, true, "rd"}};
  return all;
}

TEST(SimulatedConversions, BetweenIntegers) {
  for (const Integer& to : integers()) {
    for (const Integer& from : integers()) {
      for (const bool saturate : {false, true}) {
        const std::string text = std::string("cvt") + (saturate ? ".sat." : ".") + to.type + "." + from.type +
                                 " %" + to.letter + "0, %" + from.letter + "1;";
        // The register may be wider than the type, and is filled by its sign.
        check({text.c_str(),
               [&](U a, U, U) {
                 return static_cast<U>(saturate ? to.clamp(from.value(a))
                                                : to.value(static_cast<U>(from.value(a))));
               }},
              combinations(edges_of_64_bits(), 1), std::max(to.bits, 16));
      }
    }
  }
}

Quad integral(Quad value, char direction) {
  if (value > Quad(1e30) || value < Quad(-1e30)) return value;
  Wide whole = static_cast<Wide>(value);  // towards zero
  const Quad rest = value - Quad(whole);
  if (direction == 'm' && rest < 0) --whole;
  if (direction == 'p' && rest > 0) ++whole;
  if (direction == 'n') {
    const Quad half = rest < 0 ? -rest : rest;
    if (half > Quad(0.5) || (half == Quad(0.5) && (whole & 1) != 0)) whole += rest < 0 ? -1 : 1;
  }
  return Quad(whole);
}

U to_integer(double value, const Integer& to, char direction, bool from_double) {
  if (value != value)
    return to.bits == 64 || from_double ? static_cast<U>(to.value(U{1} << (to.bits - 1))) : 0;
  const Quad whole = integral(value, direction);
  if (whole <= Quad(to.least())) return static_cast<U>(to.least());
  return whole >= Quad(to.most()) ? static_cast<U>(to.most()) : static_cast<U>(static_cast<Wide>(whole));
}

const std::vector<std::uint64_t>& floats() {
  static const std::vector<std::uint64_t> values = [] {
    std::vector<std::uint64_t> all = edges_of_float();
    for (const float value :
         {0.5f, 1.5f, 2.5f, -0.5f, -1.5f, -2.5f, 127.5f, 255.7f, -128.6f, 2147483648.0f, -2147483648.0f,
          4294967296.0f, 9223372036854775808.0f, 18446744073709551616.0f, 3.99f, -3.01f})
      all.push_back(bits_of(value));
    return all;
  }();
  return values;
}

TEST(SimulatedConversions, FromFloatsToIntegers) {
  for (const Integer& to : integers()) {
    for (const char direction : {'n', 'z', 'm', 'p'}) {
      const std::string text =
          std::string("cvt.r") + direction + "i." + to.type + ".f32 %" + to.letter + "0, %f1;";
      check({text.c_str(), [&](U a, U, U) { return to_integer(as_float(a), to, direction, false); }},
            combinations(floats(), 1), std::max(to.bits, 16));
      std::vector<std::uint64_t> doubles = edges_of_double();
      for (const std::uint64_t value : floats())
        doubles.push_back(bits_of(static_cast<double>(as_float(value))));
      const std::string wide =
          std::string("cvt.r") + direction + "i." + to.type + ".f64 %" + to.letter + "0, %fd1;";
      check({wide.c_str(), [&](U a, U, U) { return to_integer(as_double(a), to, direction, true); }},
            combinations(doubles, 1), std::max(to.bits, 16));
    }
  }
  check({"cvt.rni.s32.f16 %r0, %h1;",
         [](U a, U, U) { return to_integer(half_format().number(a), integers()[5], 'n', false); }},
        combinations({0x3800, 0x3e00, 0xc100, 0x7bff, 0x7c00, 0x7e00, 0x8001}, 1), 32);
  check({"cvt.rzi.u8.bf16 %h0, %h1;",
         [](U a, U, U) { return to_integer(bfloat16_format().number(a), integers()[0], 'z', false); }},
        combinations({0x3f80, 0x40a8, 0xc0a0, 0x7f80, 0x7fc0, 0x4380}, 1), 16);
  check({"cvt.rzi.ftz.s32.f32 %r0, %f1;",
         [](U a, U, U) { return to_integer(as_float(a), integers()[5], 'z', false); }},
        combinations(floats(), 1), 32);
}

TEST(SimulatedConversions, FromIntegersToFloats) {
  std::vector<std::uint64_t> values = edges_of_64_bits();
  for (const std::uint64_t value : {0x0000000001000001u, 0x0000000001000003u, 0xfeffffffu})
    values.push_back(value);
  values.push_back(0x8000008000000001);  // above the middle between two floats, but in the middle as a double
  values.push_back(0x0020000000000001);
  for (const Integer& from : integers()) {
    for (const char direction : {'n', 'z', 'm', 'p'}) {
      const std::string to_float =
          std::string("cvt.r") + direction + ".f32." + from.type + " %f0, %" + from.letter + "1;";
      check({to_float.c_str(),
             [&](U a, U, U) { return bits_of(rounded_to<float>(Quad(from.value(a)), direction)); }},
            combinations(values, 1), 32);
      const std::string to_double =
          std::string("cvt.r") + direction + ".f64." + from.type + " %fd0, %" + from.letter + "1;";
      check({to_double.c_str(),
             [&](U a, U, U) { return bits_of(rounded_to<double>(Quad(from.value(a)), direction)); }},
            combinations(values, 1), 64);
      const std::string to_half =
          std::string("cvt.r") + direction + ".f16." + from.type + " %h0, %" + from.letter + "1;";
      check({to_half.c_str(), [&](U a, U, U) { return half_format().bits(Quad(from.value(a)), direction); }},
            combinations(values, 1), 16);
    }
    const std::string to_bfloat = "cvt.rn.bf16." + from.type + " %h0, %" + from.letter + "1;";
    check({to_bfloat.c_str(), [&](U a, U, U) { return bfloat16_format().bits(Quad(from.value(a))); }},
          combinations(values, 1), 16);
  }
}

TEST(SimulatedConversions, BetweenFloats) {
  for (const char direction : {'n', 'z', 'm', 'p'}) {
    const std::string r = std::string("cvt.r") + direction;
    check({(r + ".f32.f64 %f0, %fd1;").c_str(),
           [&](U a, U, U) {
             if (as_double(a) != as_double(a)) return U{0x7fc00000};  // the payload is passed on
             return bits_of(rounded_to<float>(Quad(as_double(a)), direction));
           }},
          combinations({0x3ff0000000000001, 0x3ff0000010000000, 0x3ff0000010000001, 0xbff0000030000000,
                        0x36a0000000000000, 0x380fffffffffffff, 0x400921fb54442d18, 0, 0x8000000000000000,
                        0x7ff0000000000000, 0x7ff8000000000000},
                       1),
          32);
    check({(r + ".f16.f32 %h0, %f1;").c_str(),
           [&](U a, U, U) { return half_format().bits(Quad(as_float(a)), direction); }},
          combinations(floats(), 1), 16);
    check({(r + ".bf16.f32 %h0, %f1;").c_str(),
           [&](U a, U, U) { return bfloat16_format().bits(Quad(as_float(a)), direction); }},
          combinations(floats(), 1), 16);
    check({(r + ".f16.f64 %h0, %fd1;").c_str(),
           [&](U a, U, U) {
             if (as_double(a) != as_double(a)) return U{0x7e00};
             return half_format().bits(Quad(as_double(a)), direction);
           }},
          combinations(edges_of_double(), 1), 16);
    check({(r + "i.f32.f32 %f0, %f1;").c_str(),
           [&](U a, U, U) {
             const float x = as_float(a);
             if (x != x || std::isinf(x)) return bits_of(x);
             return bits_of(std::copysign(static_cast<float>(integral(Quad(x), direction)), x));
           }},
          combinations(floats(), 1), 32);
  }
  std::vector<std::uint64_t> all_halves;
  for (std::uint64_t bits = 0; bits < 0x10000; bits += 7) all_halves.push_back(bits);
  check({"cvt.f32.f16 %f0, %h1;",
         [](U a, U, U) { return bits_of(static_cast<float>(half_format().number(a))); }},
        combinations(all_halves, 1), 32);
  check({"cvt.f32.bf16 %f0, %h1;", [](U a, U, U) { return a << 16; }}, combinations(all_halves, 1), 32);
  // `.ftz` flushes no source of a conversion to 16 bits.
  EXPECT_EQ(evaluate_one("cvt.rp.ftz.f16.f32 %h0, %f1;", {0x00000001}), 0x0001u);
  EXPECT_EQ(evaluate_one("cvt.rn.ftz.f32.f64 %f0, %fd1;", {0x380fffffffffffff}), 0x00800000u);
  EXPECT_EQ(evaluate_one("cvt.rna.tf32.f32 %r0, %f1;", {0xffc12345}), 0xffc12000u);
  check({"cvt.f64.f32 %fd0, %f1;",
         [](U a, U, U) {
           return as_float(a) != as_float(a) ? 0x7ff8000000000000 : bits_of(static_cast<double>(as_float(a)));
         }},
        combinations(floats(), 1), 64);
  check({"cvt.ftz.f32.f32 %f0, %f1;", [](U a, U, U) { return bits_of(without_subnormal(as_float(a))); }},
        combinations(floats(), 1), 32);
}

TEST(SimulatedConversions, IntoPairs) {
  const auto pair = [](const SmallFormat& format, U a, U b, char direction) {
    return format.bits(Quad(as_float(a)), direction) << 16 | format.bits(Quad(as_float(b)), direction);
  };
  check({"cvt.rn.f16x2.f32 %r0, %f1, %f2;", [&](U a, U b, U) { return pair(half_format(), a, b, 'n'); }},
        combinations(floats(), 2), 32);
  check({"cvt.rz.bf16x2.f32 %r0, %f1, %f2;", [&](U a, U b, U) { return pair(bfloat16_format(), a, b, 'z'); }},
        combinations(floats(), 2), 32);
  check({"cvt.rn.relu.f16x2.f32 %r0, %f1, %f2;",
         [&](U a, U b, U) {
           const auto positive = [](U bits) { return as_float(bits) <= 0 ? 0 : bits; };
           return pair(half_format(), positive(a), positive(b), 'n');
         }},
        combinations(floats(), 2), 32);
  check({"cvt.rn.relu.bf16.f32 %h0, %f1;",
         [](U a, U, U) { return as_float(a) <= 0 ? 0 : bfloat16_format().bits(Quad(as_float(a))); }},
        combinations(floats(), 1), 16);
}

TEST(SimulatedConversions, PacksOfIntegers) {
  const auto nearest = [](std::uint32_t value, int bits, bool is_signed) {
    const std::int64_t least = is_signed ? -(std::int64_t{1} << (bits - 1)) : 0;
    const std::int64_t most = (std::int64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
    const std::int64_t number = static_cast<std::int32_t>(value);
    return static_cast<std::uint32_t>(number < least  ? least
                                      : number > most ? most
                                                      : number) &
           ((1u << bits) - 1);
  };
  const std::vector<Sources> sources = combinations(
      {0,     1,     2,     7,     8,          15,         16,         127,        128,        255,       256,
       32767, 32768, 65535, 65536, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffe, 0xffffff7f, 0xffff7fff},
      3);
  for (const int bits : {16, 8, 4, 2}) {
    for (const bool is_signed : {false, true}) {
      const std::string type = (is_signed ? ".s" : ".u") + std::to_string(bits);
      const std::vector<std::uint64_t> results = evaluate(
          "cvt.pack.sat" + type + (bits == 16 ? ".s32 %r0, %r1, %r2;" : ".s32.b32 %r0, %r1, %r2, %r3;"),
          sources);
      for (std::size_t i = 0; i < sources.size(); ++i) {
        const auto a = static_cast<std::uint32_t>(sources[i][0]);
        const auto b = static_cast<std::uint32_t>(sources[i][1]);
        const std::uint32_t above = bits == 16 ? 0 : static_cast<std::uint32_t>(sources[i][2]) << (2 * bits);
        EXPECT_EQ(results[i], above | nearest(a, bits, is_signed) << bits | nearest(b, bits, is_signed))
            << type;
      }
    }
  }
}

TEST(SimulatedConversions, FormatsWithoutArithmetic) {
  EXPECT_EQ(evaluate_one("cvt.rn.satfinite.relu.e5m2x2.f16x2 %h0, %r1;", {0x3c00bc00}), 0x3c00u);
  EXPECT_EQ(evaluate_one("cvt.rna.tf32.f32 %r0, %f1;", {0x3f801000}), 0x3f802000u);
  EXPECT_EQ(evaluate_one("cvt.rn.tf32.f32 %r0, %f1;", {0x3f801000}), 0x3f800000u);
  const auto e4m3 = [](float upper, float lower) {
    return evaluate_one("cvt.rn.satfinite.e4m3x2.f32 %h0, %f1, %f2;", {bits_of(upper), bits_of(lower)});
  };
  EXPECT_EQ(e4m3(1.0f, -448.0f), 0x38feu);
  EXPECT_EQ(e4m3(1e9f, std::nanf("")), 0x7e7fu);
  EXPECT_EQ(e4m3(0x1p-9f, 0x1p-10f), 0x0100u);
  EXPECT_EQ(e4m3(1.0625f, 1.1875f), 0x383au);  // both in the middle, to even
  EXPECT_EQ(evaluate_one("cvt.rn.satfinite.e5m2x2.f32 %h0, %f1, %f2;", {bits_of(1.0f), bits_of(-1e9f)}),
            0x3cfbu);
  EXPECT_EQ(evaluate_one("cvt.rn.f16x2.e4m3x2 %r0, %h1;", {0x38fe}), 0x3c00df00u);
  EXPECT_EQ(evaluate_one("cvt.rn.f16x2.e5m2x2 %r0, %h1;", {0x3cfb}), 0x3c00fb00u);
  EXPECT_EQ(evaluate_one("cvt.rn.satfinite.e4m3x2.f16x2 %h0, %r1;", {0x3c00df00}), 0x38feu);
}

// Every number of e4m3 comes back from f16.
TEST(SimulatedConversions, EightBitsThereAndBack) {
  std::vector<Sources> sources;
  for (std::uint64_t bits = 0; bits < 256; ++bits) sources.push_back({bits | bits << 8, 0, 0});
  const std::vector<std::uint64_t> back =
      evaluate("cvt.rn.f16x2.e4m3x2 %r4, %h1; cvt.rn.satfinite.e4m3x2.f16x2 %h0, %r4;", sources);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const bool is_nan = (i & 0x7f) == 0x7f;
    EXPECT_EQ(back[i], is_nan ? 0x7f7fu : sources[i][0]) << i;
  }
}

}  // namespace conversion_test
}  // namespace opgate::simulator::tests
