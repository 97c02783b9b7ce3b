// Single and double precision, against sums, products and quotients of 113 bits that are rounded in all
// directions.
#include <cmath>
#include <limits>

#include "reference_floats.h"
#include "snippet.h"

namespace opgate::simulator::tests {
namespace float_test {

using U = std::uint64_t;

struct Binary {
  std::string opcode;
  Quad (*exact)(Quad a, Quad b);
};

const std::vector<Binary>& binaries() {
  static const std::vector<Binary> all{{"add", [](Quad a, Quad b) { return a + b; }},
                                       {"sub", [](Quad a, Quad b) { return a - b; }},
                                       {"mul", [](Quad a, Quad b) { return a * b; }},
                                       {"div", [](Quad a, Quad b) { return a / b; }}};
  return all;
}

TEST(SimulatedFloats, BinaryOperationsInAllRoundings) {
  for (const Binary& binary : binaries()) {
    for (const char direction : {'n', 'z', 'm', 'p'}) {
      const std::string text = binary.opcode + ".r" + direction + ".f32 %f0, %f1, %f2;";
      check({text.c_str(),
             [&](U a, U b, U) {
               const float x = as_float(a);
               const float y = as_float(b);
               const Quad exact = binary.exact(x, y);
               const bool is_sum = binary.opcode == "add" || binary.opcode == "sub";
               const Quad lost = is_sum ? lost_in_sum(x, binary.opcode == "add" ? y : -y) : 0;
               float result = rounded_to<float>(exact, direction, lost);
               const bool opposite_zeros = exact == 0 && x != 0 && is_sum;
               if (opposite_zeros) result = direction == 'm' ? -0.0f : 0.0f;
               const bool zeros_of_two_signs =
                   x == 0 && y == 0 && is_sum &&
                   std::signbit(x) != (std::signbit(y) != (binary.opcode == "sub"));
               if (zeros_of_two_signs) result = direction == 'm' ? -0.0f : 0.0f;
               return bits_of(result);
             }},
            combinations(edges_of_float(), 2), 32);
    }
  }
}

TEST(SimulatedFloats, FlushToZero) {
  for (const Binary& binary : binaries()) {
    const std::string text =
        binary.opcode + (binary.opcode == "div" ? ".rn.ftz.f32" : ".ftz.f32") + " %f0, %f1, %f2;";
    check({text.c_str(),
           [&](U a, U b, U) {
             const float x = without_subnormal(as_float(a));
             const float y = without_subnormal(as_float(b));
             const float host = binary.opcode == "add"   ? x + y
                                : binary.opcode == "sub" ? x - y
                                : binary.opcode == "mul" ? x * y
                                                         : x / y;
             // What would be subnormal with 24 bits is flushed, also if it is rounded to a normal number.
             const bool tiny =
                 binary.opcode == "mul" && std::fabs(double{x} * y) < std::numeric_limits<float>::min();
             return bits_of(tiny ? std::copysign(0.0f, host) : without_subnormal(host));
           }},
          combinations(edges_of_float(), 2), 32);
  }
}

TEST(SimulatedFloats, Saturation) {
  const auto clamp = [](float x) { return x > 0 ? std::fmin(x, 1.0f) : 0.0f; };
  check(
      {"add.sat.f32 %f0, %f1, %f2;", [&](U a, U b, U) { return bits_of(clamp(as_float(a) + as_float(b))); }},
      combinations(edges_of_float(), 2), 32);
  check({"mul.rz.sat.f32 %f0, %f1, %f2;",
         [&](U a, U b, U) {
           return bits_of(clamp(rounded_to<float>(Quad(as_float(a)) * Quad(as_float(b)), 'z')));
         }},
        combinations(edges_of_float(), 2), 32);
  check({"cvt.sat.f32.f32 %f0, %f1;", [&](U a, U, U) { return bits_of(clamp(as_float(a))); }},
        combinations(edges_of_float(), 1), 32);
}

TEST(SimulatedFloats, FmaRoundsOnce) {
  for (const char direction : {'n', 'z', 'm', 'p'}) {
    const std::string text = std::string("fma.r") + direction + ".f32 %f0, %f1, %f2, %f3;";
    // Without zeros, infinities and extremes the sum fits into 113 bits.
    const std::vector<std::uint64_t> values{0x3f800000, 0xbf800000, 0x3f800001, 0x3f7fffff, 0x40490fdb,
                                            0x3dcccccd, 0xc2f6e979, 0x4b800001, 0x33000001};
    check({text.c_str(),
           [&](U a, U b, U c) {
             const Quad exact = Quad(as_float(a)) * Quad(as_float(b)) + Quad(as_float(c));
             if (exact == 0) return bits_of(direction == 'm' ? -0.0f : 0.0f);
             return bits_of(rounded_to<float>(exact, direction));
           }},
          combinations(values, 3), 32);
  }
  check({"fma.rn.f32 %f0, %f1, %f2, %f3;",
         [](U a, U b, U c) { return bits_of(std::fma(as_float(a), as_float(b), as_float(c))); }},
        combinations(edges_of_float(), 3), 32);
  check({"fma.rn.ftz.sat.f32 %f0, %f1, %f2, %f3;",
         [](U a, U b, U c) {
           const auto f = [](U bits) { return without_subnormal(as_float(bits)); };
           const float x = std::fma(f(a), f(b), f(c));
           const Quad exact = Quad(f(a)) * Quad(f(b)) + Quad(f(c));
           if (exact < Quad(std::numeric_limits<float>::min()) * Quad(1 - 0x1p-25)) return bits_of(0.0f);
           return bits_of(x > 0 ? std::fmin(x, 1.0f) : 0.0f);
         }},
        combinations(edges_of_float(), 3), 32);
}

bool same_double(U given, double expected) {
  return expected != expected ? as_double(given) != as_double(given) : given == bits_of(expected);
}

TEST(SimulatedFloats, DoublePrecision) {
  const std::vector<Sources> sources = combinations(edges_of_double(), 2);
  const std::vector<std::uint64_t> sums = evaluate("add.f64 %fd0, %fd1, %fd2;", sources);
  const std::vector<std::uint64_t> products = evaluate("mul.rn.f64 %fd0, %fd1, %fd2;", sources);
  const std::vector<std::uint64_t> quotients = evaluate("div.rn.f64 %fd0, %fd1, %fd2;", sources);
  const std::vector<std::uint64_t> fused = evaluate("fma.rn.f64 %fd0, %fd1, %fd2, %fd1;", sources);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const double a = as_double(sources[i][0]);
    const double b = as_double(sources[i][1]);
    EXPECT_TRUE(same_double(sums[i], a + b)) << a << " " << b;
    EXPECT_TRUE(same_double(products[i], a * b)) << a << " " << b;
    EXPECT_TRUE(same_double(quotients[i], a / b)) << a << " " << b;
    EXPECT_TRUE(same_double(fused[i], std::fma(a, b, a))) << a << " " << b;
  }
}

TEST(SimulatedFloats, DoublePrecisionInOtherRoundings) {
  const std::vector<std::uint64_t> values{0x3ff0000000000001, 0x400921fb54442d18, 0xc05edd2f1a9fbe77,
                                          0x3fb999999999999a, 0x3c90000000000001};
  for (const char direction : {'z', 'm', 'p'}) {
    for (const Binary& binary : binaries()) {
      const std::string text = binary.opcode + ".r" + direction + ".f64 %fd0, %fd1, %fd2;";
      check({text.c_str(),
             [&](U a, U b, U) {
               const Quad exact = binary.exact(as_double(a), as_double(b));
               if (exact == 0) return bits_of(direction == 'm' ? -0.0 : 0.0);
               return bits_of(rounded_to<double>(exact, direction));
             }},
            combinations(values, 2), 64);
    }
    const std::string reciprocal = std::string("rcp.r") + direction + ".f64 %fd0, %fd1;";
    check({reciprocal.c_str(),
           [&](U a, U, U) { return bits_of(rounded_to<double>(Quad(1) / Quad(as_double(a)), direction)); }},
          combinations(values, 1), 64);
  }
}

// A root is rounded right if its neighbours, squared, enclose the number.
TEST(SimulatedFloats, RootsAndReciprocals) {
  const std::vector<std::uint64_t> values{0x3f800001, 0x40490fdb, 0x3dcccccd, 0x4b800001,
                                          0x00800000, 0x7f7fffff, 0x40000000};
  for (const char direction : {'n', 'z', 'm', 'p'}) {
    const std::string reciprocal = std::string("rcp.r") + direction + ".f32 %f0, %f1;";
    check({reciprocal.c_str(),
           [&](U a, U, U) { return bits_of(rounded_to<float>(Quad(1) / Quad(as_float(a)), direction)); }},
          combinations(values, 1), 32);
    const std::string root = std::string("sqrt.r") + direction + ".f32 %f0, %f1;";
    check({root.c_str(),
           [&](U a, U, U) {
             const double wide = std::sqrt(static_cast<double>(as_float(a)));
             float x = static_cast<float>(wide);
             const Quad square = Quad(x) * Quad(x);
             if (direction == 'p' && square < Quad(as_float(a))) x = std::nextafter(x, HUGE_VALF);
             if ((direction == 'z' || direction == 'm') && square > Quad(as_float(a)))
               x = std::nextafter(x, 0.0f);
             return bits_of(x);
           }},
          combinations(values, 1), 32);
  }
  EXPECT_EQ(evaluate_one("sqrt.rn.f32 %f0, %f1;", {bits_of(-1.0f)}), 0x7fffffffu);
  EXPECT_EQ(evaluate_one("sqrt.rn.f32 %f0, %f1;", {bits_of(-0.0f)}), bits_of(-0.0f));
  EXPECT_EQ(evaluate_one("rcp.rn.f32 %f0, %f1;", {bits_of(-0.0f)}), bits_of(-HUGE_VALF));
  EXPECT_EQ(evaluate_one("sqrt.rn.f64 %fd0, %fd1;", {bits_of(2.0)}), bits_of(std::sqrt(2.0)));
  EXPECT_EQ(evaluate_one("rsqrt.approx.f64 %fd0, %fd1;", {bits_of(4.0)}), bits_of(0.5));
  EXPECT_EQ(evaluate_one("rcp.approx.ftz.f64 %fd0, %fd1;", {bits_of(3.0)}),
            bits_of(1 / 3.0) & 0xffffffff00000000u);
}

TEST(SimulatedFloats, MinimumAndMaximum) {
  const auto order = [](float x) {
    return x == 0 ? (std::signbit(x) ? -1e-60 : 0.0) : static_cast<double>(x);
  };
  const auto smaller = [&](float x, float y) {
    return x != x ? y : y != y ? x : order(x) < order(y) ? x : y;
  };
  const auto larger = [&](float x, float y) { return x != x ? y : y != y ? x : order(x) < order(y) ? y : x; };
  const std::vector<Sources> sources = combinations(edges_of_float(), 2);
  check({"min.f32 %f0, %f1, %f2;", [&](U a, U b, U) { return bits_of(smaller(as_float(a), as_float(b))); }},
        sources, 32);
  check({"max.f32 %f0, %f1, %f2;", [&](U a, U b, U) { return bits_of(larger(as_float(a), as_float(b))); }},
        sources, 32);
  check({"max.NaN.f32 %f0, %f1, %f2;",
         [&](U a, U b, U) {
           const float x = as_float(a);
           const float y = as_float(b);
           return x != x || y != y ? 0x7fffffff : bits_of(larger(x, y));
         }},
        sources, 32);
  check({"min.ftz.f32 %f0, %f1, %f2;",
         [&](U a, U b, U) {
           return bits_of(smaller(without_subnormal(as_float(a)), without_subnormal(as_float(b))));
         }},
        sources, 32);
  EXPECT_EQ(evaluate_one("min.xorsign.abs.f32 %f0, %f1, %f2;", {bits_of(-3.0f), bits_of(2.0f)}),
            bits_of(-2.0f));
  EXPECT_EQ(evaluate_one("max.xorsign.abs.f32 %f0, %f1, %f2;", {bits_of(-3.0f), bits_of(-2.0f)}),
            bits_of(3.0f));
  const std::uint64_t nan = 0x7fc00000;
  EXPECT_EQ(evaluate_one("max.NaN.xorsign.abs.f32 %f0, %f1, %f2;", {nan, bits_of(-2.0f)}), 0x7fffffffu);
  EXPECT_EQ(evaluate_one("max.f64 %fd0, %fd1, %fd2;", {bits_of(-0.0), bits_of(0.0)}), bits_of(0.0));
  EXPECT_EQ(evaluate_one("min.f64 %fd0, %fd1, %fd2;", {bits_of(std::nan("")), bits_of(4.0)}), bits_of(4.0));
}

TEST(SimulatedFloats, Signs) {
  const std::vector<Sources> sources = combinations(edges_of_float(), 2);
  // NaN has one form in single precision, and keeps its sign and payload in double precision.
  const auto or_nan = [](U a, U bits) { return as_float(a) != as_float(a) ? U{0x7fffffff} : bits; };
  check({"abs.f32 %f0, %f1;", [&](U a, U, U) { return or_nan(a, a & 0x7fffffff); }}, sources, 32);
  check({"neg.f32 %f0, %f1;", [&](U a, U, U) { return or_nan(a, a ^ 0x80000000); }}, sources, 32);
  check({"copysign.f32 %f0, %f1, %f2;", [](U a, U b, U) { return (a & 0x80000000) | (b & 0x7fffffff); }},
        sources, 32);
  check(
      {"abs.ftz.f32 %f0, %f1;", [](U a, U, U) { return bits_of(std::fabs(without_subnormal(as_float(a)))); }},
      sources, 32);
  check({"neg.f64 %fd0, %fd1;",
         [](U a, U, U) { return as_double(a) != as_double(a) ? a : a ^ 0x8000000000000000; }},
        combinations(edges_of_double(), 1), 64);
  EXPECT_EQ(evaluate_one("abs.f64 %fd0, %fd1;", {0xfff0000000000001}), 0xfff8000000000001);
  check({"copysign.f64 %fd0, %fd1, %fd2;",
         [](U a, U b, U) { return (a & 0x8000000000000000) | (b & 0x7fffffffffffffff); }},
        combinations(edges_of_double(), 2), 64);
}

TEST(SimulatedFloats, ApproximatedFunctions) {
  const std::vector<std::uint64_t> values{bits_of(0.5f), bits_of(-1.25f), bits_of(3.0f),
                                          bits_of(7.7f), bits_of(1e-3f),  bits_of(20.0f)};
  const auto check_close = [&](const std::string& opcode, double (*function)(double), double tolerance) {
    const std::vector<Sources> sources = combinations(values, 1);
    const std::vector<std::uint64_t> results = evaluate(opcode + " %f0, %f1;", sources);
    for (std::size_t i = 0; i < sources.size(); ++i) {
      const double expected = function(as_float(sources[i][0]));
      if (expected != expected) {
        EXPECT_EQ(results[i], 0x7fffffffu) << opcode;
      } else {
        EXPECT_NEAR(as_float(results[i]), expected, tolerance * std::fmax(1.0, std::fabs(expected)))
            << opcode << as_float(sources[i][0]);
      }
    }
  };
  check_close(
      "ex2.approx.f32", [](double x) { return std::exp2(x); }, 1e-7);
  check_close(
      "ex2.approx.ftz.f32", [](double x) { return std::exp2(x); }, 1e-7);
  check_close(
      "lg2.approx.f32", [](double x) { return std::log2(x); }, 1e-7);
  check_close(
      "rcp.approx.f32", [](double x) { return 1 / x; }, 1e-7);
  check_close(
      "rcp.approx.ftz.f32", [](double x) { return 1 / x; }, 1e-7);
  check_close(
      "sqrt.approx.f32", [](double x) { return std::sqrt(x); }, 1e-7);
  check_close(
      "rsqrt.approx.f32", [](double x) { return 1 / std::sqrt(x); }, 1e-7);
  check_close(
      "sin.approx.f32", [](double x) { return std::sin(x); }, 2e-6);
  check_close(
      "cos.approx.f32", [](double x) { return std::cos(x); }, 2e-6);
  check_close(
      "tanh.approx.f32", [](double x) { return std::tanh(x); }, 1e-7);
  EXPECT_EQ(evaluate_one("lg2.approx.f32 %f0, %f1;", {0}), bits_of(-HUGE_VALF));
  EXPECT_EQ(evaluate_one("ex2.approx.f32 %f0, %f1;", {bits_of(-HUGE_VALF)}), 0u);
  EXPECT_EQ(evaluate_one("ex2.approx.ftz.f32 %f0, %f1;", {bits_of(-130.0f)}), 0u);
  EXPECT_EQ(evaluate_one("rsqrt.approx.f32 %f0, %f1;", {0}), bits_of(HUGE_VALF));
  EXPECT_EQ(evaluate_one("sin.approx.f32 %f0, %f1;", {bits_of(-0.0f)}), bits_of(-0.0f));
}

TEST(SimulatedFloats, ApproximatedDivision) {
  EXPECT_EQ(evaluate_one("div.approx.f32 %f0, %f1, %f2;", {bits_of(6.0f), bits_of(3.0f)}), bits_of(2.0f));
  EXPECT_EQ(evaluate_one("div.approx.f32 %f0, %f1, %f2;", {bits_of(6.0f), bits_of(-0x1.8p126f)}),
            bits_of(-0.0f));
  EXPECT_EQ(evaluate_one("div.approx.f32 %f0, %f1, %f2;", {bits_of(HUGE_VALF), bits_of(0x1.8p126f)}),
            0x7fffffffu);
  EXPECT_EQ(evaluate_one("div.full.f32 %f0, %f1, %f2;", {bits_of(1.0f), bits_of(4.0f)}), bits_of(0.25f));
}

TEST(SimulatedFloats, LiteralsOfPtx) {
  EXPECT_EQ(evaluate_one("add.f32 %f0, %f1, 0f3F800000;", {bits_of(2.0f)}), bits_of(3.0f));
  EXPECT_EQ(evaluate_one("add.f32 %f0, %f1, -1.5;", {bits_of(2.0f)}), bits_of(0.5f));
  EXPECT_EQ(evaluate_one("add.f64 %fd0, %fd1, 0d4000000000000000;", {bits_of(2.0)}), bits_of(4.0));
  EXPECT_EQ(evaluate_one("add.f64 %fd0, %fd1, 2.5;", {bits_of(2.0)}), bits_of(4.5));
  EXPECT_EQ(evaluate_one("add.s32 %r0, %r1, -3;", {2}), 0xffffffffu);
  EXPECT_EQ(evaluate_one("add.s32 %r0, 0x10U, 0b11;", {}), 19u);
  EXPECT_EQ(evaluate_one("add.s32 %r0, 010, WARP_SZ;", {}), 40u);
}

}  // namespace float_test
}  // namespace opgate::simulator::tests
