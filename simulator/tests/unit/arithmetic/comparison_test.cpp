// Comparisons of all types with all operators, and choices.
#include <cmath>
#include <map>

#include "reference_floats.h"
#include "snippet.h"

namespace opgate::simulator::tests {
namespace comparison_test {

using U = std::uint64_t;

// Less is 1, equal 2, greater 4, not comparable 8: an operator is the set of what makes it true.
const std::map<std::string, int> kOperators{{"eq", 2},   {"ne", 5},   {"lt", 1},   {"le", 3},  {"gt", 4},
                                            {"ge", 6},   {"equ", 10}, {"neu", 13}, {"ltu", 9}, {"leu", 11},
                                            {"gtu", 12}, {"geu", 14}, {"num", 7},  {"nan", 8}};

template <class T>
int relation(T a, T b) {
  return a < b ? 1 : a == b ? 2 : a > b ? 4 : 8;
}

struct Kind {
  std::string type;
  std::string letter;
  const std::vector<std::uint64_t>& edges;
  int (*relation)(U a, U b);
  bool is_float;
};

std::vector<Kind> kinds() {
  static const std::vector<std::uint64_t> halves{0,      0x8000, 0x3c00, 0xbc00, 0x7c00,
                                                 0xfc00, 0x7e00, 1,      0x3c01};
  return {
      {"u16", "h", edges_of_16_bits(), [](U a, U b) { return relation(a, b); }, false},
      {"s16", "h", edges_of_16_bits(),
       [](U a, U b) { return relation(static_cast<std::int16_t>(a), static_cast<std::int16_t>(b)); }, false},
      {"u32", "r", edges_of_32_bits(), [](U a, U b) { return relation(a, b); }, false},
      {"s32", "r", edges_of_32_bits(),
       [](U a, U b) { return relation(static_cast<std::int32_t>(a), static_cast<std::int32_t>(b)); }, false},
      {"u64", "rd", edges_of_64_bits(), [](U a, U b) { return relation(a, b); }, false},
      {"s64", "rd", edges_of_64_bits(),
       [](U a, U b) { return relation(static_cast<std::int64_t>(a), static_cast<std::int64_t>(b)); }, false},
      {"f32", "f", edges_of_float(), [](U a, U b) { return relation(as_float(a), as_float(b)); }, true},
      {"f64", "fd", edges_of_double(), [](U a, U b) { return relation(as_double(a), as_double(b)); }, true},
      {"f16", "h", halves,
       [](U a, U b) { return relation(half_format().number(a), half_format().number(b)); }, true},
      {"bf16", "h", halves,
       [](U a, U b) { return relation(bfloat16_format().number(a), bfloat16_format().number(b)); }, true},
  };
}

TEST(SimulatedComparisons, AllTypesAndOperators) {
  for (const Kind& kind : kinds()) {
    for (const auto& [name, set] : kOperators) {
      if (!kind.is_float && name.size() > 2) continue;
      const std::string text =
          "setp." + name + "." + kind.type + " %p0, %" + kind.letter + "1, %" + kind.letter + "2;";
      const int wanted = set;
      check({text.c_str(), [&](U a, U b, U) { return (kind.relation(a, b) & wanted) != 0; }},
            combinations(kind.edges, 2), 32);
    }
  }
}

TEST(SimulatedComparisons, NamesOfUnsignedOperators) {
  const std::map<std::string, int> names{{"lo", 1}, {"ls", 3}, {"hi", 4}, {"hs", 6}};
  for (const auto& [name, set] : names) {
    const std::string text = "setp." + name + ".u32 %p0, %r1, %r2;";
    const int wanted = set;
    check({text.c_str(), [wanted](U a, U b, U) { return (relation(a, b) & wanted) != 0; }},
          combinations(edges_of_32_bits(), 2), 32);
  }
}

TEST(SimulatedComparisons, FlushToZero) {
  check({"setp.eq.ftz.f32 %p0, %f1, %f2;",
         [](U a, U b, U) { return without_subnormal(as_float(a)) == without_subnormal(as_float(b)); }},
        combinations(edges_of_float(), 2), 32);
}

TEST(SimulatedComparisons, TwoResultsAndCombinations) {
  const std::vector<Sources> sources = combinations({0, 1, 2, 0xffffffff}, 3);
  const std::vector<Row> rows{
      {"setp.lt.s32 %p4|%p0, %r1, %r2;",
       [](U a, U b, U) { return static_cast<std::int32_t>(a) >= static_cast<std::int32_t>(b); }},
      {"setp.eq.and.s32 %p0, %r1, %r2, %p3;", [](U a, U b, U c) { return a == b && c != 0; }},
      {"setp.eq.or.s32 %p0, %r1, %r2, %p3;", [](U a, U b, U c) { return a == b || c != 0; }},
      {"setp.eq.xor.s32 %p0, %r1, %r2, %p3;", [](U a, U b, U c) { return (a == b) != (c != 0); }},
      {"setp.eq.and.s32 %p4|%p0, %r1, %r2, %p3;", [](U a, U b, U c) { return a != b && c != 0; }},
      {"setp.eq.and.s32 %p0, %r1, %r2, !%p3;", [](U a, U b, U c) { return a == b && c == 0; }},
  };
  for (const Row& row : rows) check(row, sources, 32);
}

TEST(SimulatedComparisons, PairsOfHalves) {
  // 1 and 2 against 2 and 2, lower half first.
  EXPECT_EQ(evaluate_one("setp.lt.f16x2 %p0|%p4, %r1, %r2;", {0x40003c00, 0x40004000}), 1u);
  EXPECT_EQ(evaluate_one("setp.lt.f16x2 %p4|%p0, %r1, %r2;", {0x40003c00, 0x40004000}), 0u);
  EXPECT_EQ(evaluate_one("setp.eq.bf16x2 %p4|%p0, %r1, %r2;", {0x3f804000, 0x3f803f80}), 1u);
  EXPECT_EQ(evaluate_one("set.lt.f16x2.f16x2 %r0, %r1, %r2;", {0x40003c00, 0x40004000}), 0x00003c00u);
  EXPECT_EQ(evaluate_one("set.le.u32.f16x2 %r0, %r1, %r2;", {0x40003c00, 0x40004000}), 0xffffffffu);
  EXPECT_EQ(evaluate_one("set.eq.bf16x2.bf16x2 %r0, %r1, %r2;", {0x3f804000, 0x3f803f80}), 0x3f800000u);
}

TEST(SimulatedComparisons, ResultsAsNumbers) {
  const std::vector<Sources> sources = combinations(edges_of_float(), 2);
  check({"set.lt.u32.f32 %r0, %f1, %f2;",
         [](U a, U b, U) { return as_float(a) < as_float(b) ? 0xffffffff : 0; }},
        sources, 32);
  check({"set.ge.f32.f32 %f0, %f1, %f2;",
         [](U a, U b, U) { return as_float(a) >= as_float(b) ? 0x3f800000 : 0; }},
        sources, 32);
  check({"set.eq.and.s32.u32 %r0, %r1, %r2, %p1;",
         [](U a, U b, U) { return a == b && a != 0 ? 0xffffffff : 0; }},
        combinations(edges_of_32_bits(), 2), 32);
}

TEST(SimulatedComparisons, Choices) {
  const std::vector<Sources> sources = combinations(edges_of_32_bits(), 3);
  check({"selp.b32 %r0, %r1, %r2, %p3;", [](U a, U b, U c) { return c != 0 ? a : b; }}, sources, 32);
  check({"selp.f64 %fd0, %fd1, %fd2, %p3;", [](U a, U b, U c) { return c != 0 ? a : b; }}, sources, 64);
  check({"selp.b16 %h0, %h1, 7, %p3;", [](U a, U, U c) { return c != 0 ? a : 7; }}, sources, 16);
  check({"slct.b32.s32 %r0, %r1, %r2, %r3;",
         [](U a, U b, U c) { return static_cast<std::int32_t>(c) >= 0 ? a : b; }},
        sources, 32);
  check({"slct.u64.f32 %rd0, %rd1, %rd2, %f3;", [](U a, U b, U c) { return as_float(c) >= 0 ? a : b; }},
        combinations(edges_of_float(), 3), 64);
  check({"slct.ftz.f32.f32 %f0, %f1, %f2, %f3;",
         [](U a, U b, U c) { return without_subnormal(as_float(c)) >= 0 ? a : b; }},
        combinations(edges_of_float(), 3), 32);
}

TEST(SimulatedComparisons, FlushHalves) {
  EXPECT_EQ(evaluate_one("setp.eq.ftz.f16 %p0, %h1, %h2;", {0x0001, 0x8000}), 1u);
  EXPECT_EQ(evaluate_one("setp.eq.f16 %p0, %h1, %h2;", {0x0001, 0x8000}), 0u);
  EXPECT_EQ(evaluate_one("setp.gt.ftz.f16x2 %p0|%p4, %r1, %r2;", {0x04000001, 0x00000000}), 0u);
}

TEST(SimulatedComparisons, KindsOfNumbers) {
  const std::map<std::string, bool (*)(double, int)> questions{
      {"finite", [](double x, int) { return std::isfinite(x); }},
      {"infinite", [](double x, int) { return std::isinf(x); }},
      {"number", [](double x, int) { return !std::isnan(x); }},
      {"notanumber", [](double x, int) { return std::isnan(x); }},
      {"normal", [](double, int kind) { return kind == FP_NORMAL || kind == FP_ZERO; }},
      {"subnormal", [](double, int kind) { return kind == FP_SUBNORMAL; }}};
  for (const auto& [name, question] : questions) {
    const auto ask = question;
    check({("testp." + name + ".f32 %p0, %f1;").c_str(),
           [ask](U a, U, U) { return ask(as_float(a), std::fpclassify(as_float(a))); }},
          combinations(edges_of_float(), 1), 32);
    check({("testp." + name + ".f64 %p0, %fd1;").c_str(),
           [ask](U a, U, U) { return ask(as_double(a), std::fpclassify(as_double(a))); }},
          combinations(edges_of_double(), 1), 32);
  }
}

}  // namespace comparison_test
}  // namespace opgate::simulator::tests
