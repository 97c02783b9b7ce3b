// f16 and bf16, against the list of all numbers of the format.
#include <cmath>

#include "reference_floats.h"
#include "snippet.h"

namespace opgate::simulator::tests {
namespace half_test {

using U = std::uint64_t;

const std::vector<std::uint64_t>& halves() {
  static const std::vector<std::uint64_t> values{0x0000, 0x8000, 0x0001, 0x83ff, 0x0400, 0x3c00, 0xbc00,
                                                 0x3c01, 0x3bff, 0x4248, 0x2e66, 0xd640, 0x7bff, 0xfbff,
                                                 0x7c00, 0xfc00, 0x7e00, 0x6401, 0x1234};
  return values;
}

const std::vector<std::uint64_t>& bfloats() {
  static const std::vector<std::uint64_t> values{0x0000, 0x8000, 0x3f80, 0xbf80, 0x3f81,
                                                 0x3f7f, 0x4049, 0x3dcd, 0xc2f7, 0x4b81,
                                                 0x7f80, 0xff80, 0x7fc0, 0x3381, 0x4800};
  return values;
}

struct Format {
  std::string type;
  const SmallFormat& format;
  const std::vector<std::uint64_t>& values;
};

std::vector<Format> formats() {
  return {{"f16", half_format(), halves()}, {"bf16", bfloat16_format(), bfloats()}};
}

TEST(SimulatedHalves, Arithmetic) {
  for (const Format& format : formats()) {
    const auto number = [&](U bits) { return Quad(format.format.number(bits)); };
    const auto check_two = [&](const std::string& opcode, auto exact) {
      const std::string text = opcode + "." + format.type + " %h0, %h1, %h2;";
      check({text.c_str(), [&](U a, U b, U) { return format.format.bits(exact(number(a), number(b))); }},
            combinations(format.values, 2), 16);
    };
    check_two("add", [](Quad a, Quad b) { return a + b; });
    check_two("sub", [](Quad a, Quad b) { return a - b; });
    check_two("mul.rn", [](Quad a, Quad b) { return a * b; });
    const std::string fma = "fma.rn." + format.type + " %h0, %h1, %h2, %h3;";
    check({fma.c_str(), [&](U a, U b, U c) { return format.format.bits(number(a) * number(b) + number(c)); }},
          combinations(format.values, 3), 16);
    const std::string relu = "fma.rn.relu." + format.type + " %h0, %h1, %h2, %h3;";
    check({relu.c_str(),
           [&](U a, U b, U c) {
             const Quad sum = number(a) * number(b) + number(c);
             return sum > 0 || sum != sum ? format.format.bits(sum) : 0;
           }},
          combinations(format.values, 3), 16);
  }
}

// 1 + 2^-11 * (1 + 2^-10) is above the middle between 1 and its neighbour only before the product is rounded.
TEST(SimulatedHalves, FmaRoundsOnce) {
  EXPECT_EQ(evaluate_one("fma.rn.f16 %h0, %h1, %h2, %h3;", {0x1000, 0x3c01, 0x3c00}), 0x3c01u);
  EXPECT_EQ(evaluate_one("fma.rn.f16x2 %r0, %r1, %r2, %r3;", {0x10001000, 0x3c013c00, 0x3c003c00}),
            0x3c013c00u);
  // The sum needs more than 53 bits, of which the last decides.
  EXPECT_EQ(evaluate_one("fma.rn.bf16 %h0, %h1, %h2, %h3;", {0x2000, 0x2000, 0x3f80}), 0x3f80u);
}

TEST(SimulatedHalves, Pairs) {
  const std::vector<std::uint64_t> pairs{0x3c000001, 0xbc01fbff, 0x42488000, 0x7c007e00, 0x12343c01};
  const auto both = [](U a, U b, auto one) {
    return one(a & 0xffff, b & 0xffff) | one(a >> 16, b >> 16) << 16;
  };
  const SmallFormat& format = half_format();
  check({"add.f16x2 %r0, %r1, %r2;",
         [&](U a, U b, U) {
           return both(
               a, b, [&](U x, U y) { return format.bits(Quad(format.number(x)) + Quad(format.number(y))); });
         }},
        combinations(pairs, 2), 32);
  check({"mul.sat.f16x2 %r0, %r1, %r2;",
         [&](U a, U b, U) {
           return both(a, b, [&](U x, U y) -> U {
             const double product = format.number(x) * format.number(y);
             return product > 0 ? format.bits(std::fmin(product, 1.0)) : 0;
           });
         }},
        combinations(pairs, 2), 32);
  const auto or_nan = [](const SmallFormat& of, U a, U result) {
    return of.number(a) != of.number(a) ? U{0x7fff} : result;
  };
  check({"neg.f16x2 %r0, %r1;",
         [&](U a, U b, U) { return both(a, b, [&](U x, U) { return or_nan(format, x, x ^ 0x8000); }); }},
        combinations(pairs, 1), 32);
  EXPECT_EQ(evaluate_one("fma.rn.ftz.f16 %h0, %h1, %h2, %h3;", {0x3bff, 0x0400, 0x8000}), 0u);
  check({"abs.bf16x2 %r0, %r1;", [](U a, U, U) { return a & 0x7fff7fff; }}, combinations(pairs, 1), 32);
  check({"neg.bf16 %h0, %h1;", [&](U a, U, U) { return or_nan(bfloat16_format(), a, a ^ 0x8000); }},
        combinations(bfloats(), 1), 16);
  check({"abs.f16 %h0, %h1;", [&](U a, U, U) { return or_nan(format, a, a & 0x7fff); }},
        combinations(halves(), 1), 16);
}

TEST(SimulatedHalves, MinimumAndMaximum) {
  for (const Format& format : formats()) {
    const auto order = [&](U bits) {
      return format.format.number(bits) == 0 ? ((bits & 0x8000) != 0 ? -1e-60 : 0.0)
                                             : format.format.number(bits);
    };
    const auto is_nan = [&](U bits) { return order(bits) != order(bits); };
    const auto smaller = [&](U a, U b) -> U {
      return is_nan(a) && is_nan(b) ? 0x7fff : is_nan(a) ? b : is_nan(b) ? a : order(a) < order(b) ? a : b;
    };
    const std::string plain = "min." + format.type + " %h0, %h1, %h2;";
    check({plain.c_str(), [&](U a, U b, U) { return smaller(a, b); }}, combinations(format.values, 2), 16);
    const std::string with_nan = "max.NaN." + format.type + " %h0, %h1, %h2;";
    check({with_nan.c_str(),
           [&](U a, U b, U) { return is_nan(a) || is_nan(b) ? U{0x7fff}
                                     : order(a) < order(b)  ? b
                                                            : a; }},
          combinations(format.values, 2), 16);
  }
  EXPECT_EQ(evaluate_one("max.xorsign.abs.bf16x2 %r0, %r1, %r2;", {0xbf803f80, 0x40004000}), 0xc0004000u);
}

TEST(SimulatedHalves, FlushToZero) {
  EXPECT_EQ(evaluate_one("add.ftz.f16 %h0, %h1, %h2;", {0x0001, 0x3c00}), 0x3c00u);
  EXPECT_EQ(evaluate_one("mul.ftz.f16 %h0, %h1, %h2;", {0x0400, 0xb800}), 0x8000u);
  EXPECT_EQ(evaluate_one("mul.f16 %h0, %h1, %h2;", {0x0400, 0xb800}), 0x8200u);
}

TEST(SimulatedHalves, Functions) {
  const SmallFormat& half = half_format();
  const SmallFormat& bfloat = bfloat16_format();
  check({"ex2.approx.f16 %h0, %h1;", [&](U a, U, U) { return half.bits(std::exp2(half.number(a))); }},
        combinations(halves(), 1), 16);
  check({"tanh.approx.f16 %h0, %h1;", [&](U a, U, U) { return half.bits(std::tanh(half.number(a))); }},
        combinations(halves(), 1), 16);
  check({"tanh.approx.bf16 %h0, %h1;", [&](U a, U, U) { return bfloat.bits(std::tanh(bfloat.number(a))); }},
        combinations(bfloats(), 1), 16);
  EXPECT_EQ(evaluate_one("ex2.approx.f16x2 %r0, %r1;", {0x3c00c000}), 0x40003400u);
  EXPECT_EQ(evaluate_one("ex2.approx.ftz.bf16 %h0, %h1;", {0xc302}), 0u);
  EXPECT_EQ(evaluate_one("ex2.approx.ftz.bf16 %h0, %h1;", {0xc2fc}), 0x0080u);
  check({"ex2.approx.ftz.bf16x2 %r0, %r1;",
         [&](U a, U, U) {
           return bfloat.bits(std::exp2(bfloat.number(a & 0xffff))) |
                  bfloat.bits(std::exp2(bfloat.number(a >> 16))) << 16;
         }},
        combinations({0x3f80c000, 0x40490000}, 1), 32);
}

}  // namespace half_test
}  // namespace opgate::simulator::tests
