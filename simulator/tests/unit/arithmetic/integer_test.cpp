// Arithmetic of integers, against wider integers of the host.
#include <algorithm>
#include <limits>

#include "snippet.h"

namespace opgate::simulator::tests {
namespace integer_test {

using U = std::uint64_t;
using Wide = __int128;

template <class T>
Wide as(U value) {
  return static_cast<T>(value);
}

Wide clamp32(Wide value) {
  return std::clamp<Wide>(value, std::numeric_limits<std::int32_t>::min(),
                          std::numeric_limits<std::int32_t>::max());
}

// `operation` of wide integers must be the instruction of each type.
template <class T>
void check_binary(const std::string& opcode, const std::string& type, const std::string& letter,
                  const std::vector<std::uint64_t>& edges, Wide (*operation)(Wide a, Wide b)) {
  const std::string text = opcode + type + " %" + letter + "0, %" + letter + "1, %" + letter + "2;";
  check({text.c_str(), [&](U a, U b, U) { return static_cast<U>(operation(as<T>(a), as<T>(b))); }},
        combinations(edges, 2), 8 * sizeof(T));
}

void check_all_types(const std::string& opcode, Wide (*operation)(Wide a, Wide b)) {
  check_binary<std::uint16_t>(opcode, ".u16", "h", edges_of_16_bits(), operation);
  check_binary<std::int16_t>(opcode, ".s16", "h", edges_of_16_bits(), operation);
  check_binary<std::uint32_t>(opcode, ".u32", "r", edges_of_32_bits(), operation);
  check_binary<std::int32_t>(opcode, ".s32", "r", edges_of_32_bits(), operation);
  check_binary<std::uint64_t>(opcode, ".u64", "rd", edges_of_64_bits(), operation);
  check_binary<std::int64_t>(opcode, ".s64", "rd", edges_of_64_bits(), operation);
}

TEST(SimulatedIntegers, AddSubtractMultiply) {
  check_all_types("add", [](Wide a, Wide b) { return a + b; });
  check_all_types("sub", [](Wide a, Wide b) { return a - b; });
  // The product of two values of 64 bits without a sign is beyond __int128, but its low bits are right.
  check_all_types("mul.lo", [](Wide a, Wide b) {
    return static_cast<Wide>(static_cast<unsigned __int128>(a) * static_cast<unsigned __int128>(b));
  });
}

TEST(SimulatedIntegers, MinimumAndMaximum) {
  check_all_types("min", [](Wide a, Wide b) { return std::min(a, b); });
  check_all_types("max", [](Wide a, Wide b) { return std::max(a, b); });
}

TEST(SimulatedIntegers, DivisionAndRemainder) {
  check_all_types("div", [](Wide a, Wide b) { return b == 0 ? Wide{-1} : a / b; });
  check_all_types("rem", [](Wide a, Wide b) { return b == 0 ? Wide{-1} : a % b; });
}

TEST(SimulatedIntegers, UpperHalfOfProducts) {
  const auto high = [](U a, U b, U) {
    return static_cast<U>((as<std::int32_t>(a) * as<std::int32_t>(b)) >> 32);
  };
  check({"mul.hi.s32 %r0, %r1, %r2;", high}, combinations(edges_of_32_bits(), 2), 32);
  check({"mul.hi.u32 %r0, %r1, %r2;", [](U a, U b, U) { return (a * b) >> 32; }},
        combinations(edges_of_32_bits(), 2), 32);
  check({"mul.hi.u64 %rd0, %rd1, %rd2;",
         [](U a, U b, U) { return static_cast<U>((static_cast<unsigned __int128>(a) * b) >> 64); }},
        combinations(edges_of_64_bits(), 2), 64);
  check({"mul.hi.s64 %rd0, %rd1, %rd2;",
         [](U a, U b, U) { return static_cast<U>((as<std::int64_t>(a) * as<std::int64_t>(b)) >> 64); }},
        combinations(edges_of_64_bits(), 2), 64);
  check({"mul.hi.s16 %h0, %h1, %h2;",
         [](U a, U b, U) { return static_cast<U>((as<std::int16_t>(a) * as<std::int16_t>(b)) >> 16); }},
        combinations(edges_of_16_bits(), 2), 16);
}

TEST(SimulatedIntegers, WideProducts) {
  const std::vector<Row> rows{
      {"mul.wide.s32 %rd0, %r1, %r2;",
       [](U a, U b, U) { return static_cast<U>(as<std::int32_t>(a) * as<std::int32_t>(b)); }},
      {"mul.wide.u32 %rd0, %r1, %r2;", [](U a, U b, U) { return a * b; }},
      {"mad.wide.s32 %rd0, %r1, %r2, %rd2;",
       [](U a, U b, U) { return static_cast<U>(as<std::int32_t>(a) * as<std::int32_t>(b)) + b; }},
      {"mad.wide.u32 %rd0, %r1, %r2, %rd1;", [](U a, U b, U) { return a * b + a; }},
  };
  for (const Row& row : rows) check(row, combinations(edges_of_32_bits(), 2), 64);
  check({"mul.wide.s16 %r0, %h1, %h2;",
         [](U a, U b, U) { return static_cast<U>(as<std::int16_t>(a) * as<std::int16_t>(b)); }},
        combinations(edges_of_16_bits(), 2), 32);
  check({"mul.wide.u16 %r0, %h1, %h2;", [](U a, U b, U) { return a * b; }},
        combinations(edges_of_16_bits(), 2), 32);
  check({"mad.wide.u16 %r0, %h1, %h2, %r2;", [](U a, U b, U) { return a * b + b; }},
        combinations(edges_of_16_bits(), 2), 32);
}

TEST(SimulatedIntegers, MultiplyAndAdd) {
  const std::vector<Row> rows{
      {"mad.lo.s32 %r0, %r1, %r2, %r3;", [](U a, U b, U c) { return a * b + c; }},
      {"mad.lo.u32 %r0, %r1, %r2, %r3;", [](U a, U b, U c) { return a * b + c; }},
      {"mad.hi.u32 %r0, %r1, %r2, %r3;", [](U a, U b, U c) { return ((a * b) >> 32) + c; }},
      {"mad.hi.s32 %r0, %r1, %r2, %r3;",
       [](U a, U b, U c) {
         return static_cast<U>(((as<std::int32_t>(a) * as<std::int32_t>(b)) >> 32) + static_cast<Wide>(c));
       }},
      {"mad.hi.sat.s32 %r0, %r1, %r2, %r3;",
       [](U a, U b, U c) {
         return static_cast<U>(
             clamp32(((as<std::int32_t>(a) * as<std::int32_t>(b)) >> 32) + as<std::int32_t>(c)));
       }},
  };
  for (const Row& row : rows) check(row, combinations(edges_of_32_bits(), 3), 32);
  check({"mad.lo.s16 %h0, %h1, %h2, %h3;", [](U a, U b, U c) { return a * b + c; }},
        combinations(edges_of_16_bits(), 3), 16);
  check({"mad.lo.s64 %rd0, %rd1, %rd2, %rd3;", [](U a, U b, U c) { return a * b + c; }},
        combinations(edges_of_64_bits(), 3), 64);
}

TEST(SimulatedIntegers, Saturation) {
  const auto sum = [](U a, U b, U) {
    return static_cast<U>(clamp32(as<std::int32_t>(a) + as<std::int32_t>(b)));
  };
  const auto difference = [](U a, U b, U) {
    return static_cast<U>(clamp32(as<std::int32_t>(a) - as<std::int32_t>(b)));
  };
  check({"add.sat.s32 %r0, %r1, %r2;", sum}, combinations(edges_of_32_bits(), 2), 32);
  check({"sub.sat.s32 %r0, %r1, %r2;", difference}, combinations(edges_of_32_bits(), 2), 32);
  check({"max.relu.s32 %r0, %r1, %r2;",
         [](U a, U b, U) {
           return static_cast<U>(std::max<Wide>({as<std::int32_t>(a), as<std::int32_t>(b), 0}));
         }},
        combinations(edges_of_32_bits(), 2), 32);
}

TEST(SimulatedIntegers, SignsAndDifferences) {
  check({"abs.s32 %r0, %r1;",
         [](U a, U, U) {
           return static_cast<U>(as<std::int32_t>(a) < 0 ? -as<std::int32_t>(a) : as<std::int32_t>(a));
         }},
        combinations(edges_of_32_bits(), 1), 32);
  check({"neg.s32 %r0, %r1;", [](U a, U, U) { return 0 - a; }}, combinations(edges_of_32_bits(), 1), 32);
  check({"neg.s64 %rd0, %rd1;", [](U a, U, U) { return 0 - a; }}, combinations(edges_of_64_bits(), 1), 64);
  check({"abs.s64 %rd0, %rd1;", [](U a, U, U) { return static_cast<std::int64_t>(a) < 0 ? 0 - a : a; }},
        combinations(edges_of_64_bits(), 1), 64);
  check({"sad.s32 %r0, %r1, %r2, %r3;",
         [](U a, U b, U c) {
           const Wide difference = as<std::int32_t>(a) - as<std::int32_t>(b);
           return static_cast<U>((difference < 0 ? -difference : difference) + static_cast<Wide>(c));
         }},
        combinations(edges_of_32_bits(), 3), 32);
  check({"sad.u32 %r0, %r1, %r2, %r3;", [](U a, U b, U c) { return (a > b ? a - b : b - a) + c; }},
        combinations(edges_of_32_bits(), 3), 32);
}

TEST(SimulatedIntegers, TwentyFourBits) {
  const auto narrow = [](U value) {
    return static_cast<Wide>(static_cast<std::int32_t>(static_cast<std::uint32_t>(value) << 8) >> 8);
  };
  check({"mul24.lo.s32 %r0, %r1, %r2;", [&](U a, U b, U) { return static_cast<U>(narrow(a) * narrow(b)); }},
        combinations(edges_of_32_bits(), 2), 32);
  check({"mul24.hi.s32 %r0, %r1, %r2;",
         [&](U a, U b, U) { return static_cast<U>((narrow(a) * narrow(b)) >> 16); }},
        combinations(edges_of_32_bits(), 2), 32);
  check({"mul24.lo.u32 %r0, %r1, %r2;", [](U a, U b, U) { return (a & 0xffffff) * (b & 0xffffff); }},
        combinations(edges_of_32_bits(), 2), 32);
  check({"mul24.hi.u32 %r0, %r1, %r2;", [](U a, U b, U) { return ((a & 0xffffff) * (b & 0xffffff)) >> 16; }},
        combinations(edges_of_32_bits(), 2), 32);
  check({"mad24.hi.sat.s32 %r0, %r1, %r2, %r3;",
         [&](U a, U b, U c) {
           const Wide product = static_cast<std::int32_t>((narrow(a) * narrow(b)) >> 16);
           return static_cast<U>(clamp32(product + as<std::int32_t>(c)));
         }},
        combinations(edges_of_32_bits(), 3), 32);
  check(
      {"mad24.lo.u32 %r0, %r1, %r2, %r3;", [](U a, U b, U c) { return (a & 0xffffff) * (b & 0xffffff) + c; }},
      combinations(edges_of_32_bits(), 3), 32);
}

TEST(SimulatedIntegers, DotProducts) {
  const auto dot4 = [](U a, U b, U c, bool a_signed, bool b_signed) {
    Wide sum = static_cast<Wide>(c);
    for (int i = 0; i < 32; i += 8) {
      const Wide x = a_signed ? as<std::int8_t>(a >> i) : as<std::uint8_t>(a >> i);
      sum += x * (b_signed ? as<std::int8_t>(b >> i) : as<std::uint8_t>(b >> i));
    }
    return static_cast<U>(sum);
  };
  const auto sources = combinations(edges_of_32_bits(), 3);
  check({"dp4a.s32.s32 %r0, %r1, %r2, %r3;", [&](U a, U b, U c) { return dot4(a, b, c, true, true); }},
        sources, 32);
  check({"dp4a.u32.u32 %r0, %r1, %r2, %r3;", [&](U a, U b, U c) { return dot4(a, b, c, false, false); }},
        sources, 32);
  check({"dp4a.u32.s32 %r0, %r1, %r2, %r3;", [&](U a, U b, U c) { return dot4(a, b, c, false, true); }},
        sources, 32);
  check({"dp2a.lo.s32.u32 %r0, %r1, %r2, %r3;",
         [](U a, U b, U c) {
           return static_cast<U>(as<std::int16_t>(a) * as<std::uint8_t>(b) +
                                 as<std::int16_t>(a >> 16) * as<std::uint8_t>(b >> 8)) +
                  c;
         }},
        sources, 32);
  check({"dp2a.hi.u32.s32 %r0, %r1, %r2, %r3;",
         [](U a, U b, U c) {
           return static_cast<U>(as<std::uint16_t>(a) * as<std::int8_t>(b >> 16) +
                                 as<std::uint16_t>(a >> 16) * as<std::int8_t>(b >> 24)) +
                  c;
         }},
        sources, 32);
}

TEST(SimulatedIntegers, DifferencesOfBytes) {
  const auto difference = [](U a, U b, int shift, bool is_signed) {
    const Wide x = is_signed ? as<std::int8_t>(a >> shift) : as<std::uint8_t>(a >> shift);
    const Wide y = is_signed ? as<std::int8_t>(b >> shift) : as<std::uint8_t>(b >> shift);
    return static_cast<U>(x < y ? y - x : x - y);
  };
  check({"vabsdiff4.u32.u32.u32 %r0, %r1, %r2, %r3;",
         [&](U a, U b, U) {
           return difference(a, b, 0, false) | difference(a, b, 8, false) << 8 |
                  difference(a, b, 16, false) << 16 | difference(a, b, 24, false) << 24;
         }},
        combinations(edges_of_32_bits(), 3), 32);
  check({"vabsdiff4.s32.s32.s32.add %r0, %r1, %r2, %r3;",
         [&](U a, U b, U c) {
           return c + difference(a, b, 0, true) + difference(a, b, 8, true) + difference(a, b, 16, true) +
                  difference(a, b, 24, true);
         }},
        combinations(edges_of_32_bits(), 3), 32);
}

TEST(SimulatedIntegers, CarriesBuildWiderIntegers) {
  using Unsigned = unsigned __int128;
  // a * 2^64 + b plus b * 2^64 + c, upper and lower half
  const auto sources = combinations(edges_of_64_bits(), 3);
  const auto upper = [](Unsigned value) { return static_cast<U>(value >> 64); };
  check({"add.cc.u64 %rd4, %rd2, %rd3; addc.u64 %rd0, %rd1, %rd2;",
         [&](U a, U b, U c) { return upper((Unsigned{a} << 64 | b) + (Unsigned{b} << 64 | c)); }},
        sources, 64);
  check({"sub.cc.u64 %rd4, %rd2, %rd3; subc.u64 %rd0, %rd1, %rd2;",
         [&](U a, U b, U c) { return upper((Unsigned{a} << 64 | b) - (Unsigned{b} << 64 | c)); }},
        sources, 64);
  // A product of 64 bits by parts of 32: the way of __umul64hi and of wide integers.
  // The flag is 1 after a subtraction that borrowed nothing, and the next instruction takes it as it is.
  check({"sub.cc.u32 %r4, %r1, %r2; addc.u32 %r0, %r3, 0;",
         [](U a, U b, U c) { return (c + (a >= b ? 1 : 0)) & 0xffffffff; }},
        combinations(edges_of_32_bits(), 3), 32);
  check({"add.cc.u32 %r4, %r1, %r2; subc.u32 %r0, %r3, 0;",
         [](U a, U b, U c) { return (c - 1 + (a + b > 0xffffffff ? 1 : 0)) & 0xffffffff; }},
        combinations(edges_of_32_bits(), 3), 32);
  check({"mad.lo.cc.u64 %rd4, %rd1, %rd2, %rd3; madc.hi.u64 %rd0, %rd1, %rd2, 0;",
         [&](U a, U b, U c) { return upper(Unsigned{a} * b + c); }},
        sources, 64);
  check({"mad.lo.cc.u64 %rd4, %rd1, %rd2, %rd3; madc.hi.cc.u64 %rd5, %rd1, %rd2, %rd3; addc.u64 %rd0, 0, 0;",
         [&](U a, U b, U c) {
           const Unsigned low = Unsigned{a} * b + c;
           return static_cast<U>((Unsigned{upper(low)} + c) >> 64);
         }},
        sources, 64);
  check({"add.cc.u32 %r4, %r1, %r2; addc.cc.u32 %r5, %r2, %r3; addc.u32 %r0, 0, 0;",
         [](U a, U b, U c) { return (b + c + ((a + b) >> 32)) >> 32; }},
        combinations(edges_of_32_bits(), 3), 32);
}

TEST(SimulatedIntegers, CarriesOfSignedProducts) {
  // The carry of the lower half goes into the upper half of a signed product of twice the width.
  check({"mad.lo.cc.s32 %r4, %r1, %r2, %r3; madc.hi.s32 %r0, %r1, %r2, 7;",
         [](U a, U b, U c) {
           const Wide low = static_cast<Wide>((a * b & 0xffffffff) + c);
           return static_cast<U>(((as<std::int32_t>(a) * as<std::int32_t>(b)) >> 32) + 7 + (low >> 32));
         }},
        combinations(edges_of_32_bits(), 3), 32);
  check({"mad.lo.cc.u64 %rd4, %rd1, %rd2, %rd3; madc.hi.s64 %rd0, %rd1, %rd2, 7;",
         [](U a, U b, U c) {
           const unsigned __int128 low = static_cast<unsigned __int128>(a * b) + c;
           return static_cast<U>((as<std::int64_t>(a) * as<std::int64_t>(b)) >> 64) + 7 +
                  static_cast<U>(low >> 64);
         }},
        combinations(edges_of_64_bits(), 3), 64);
}

TEST(SimulatedIntegers, PairsOf16Bits) {
  const auto pair = [](U a, U b, auto operation) {
    const U low = static_cast<U>(operation(as<std::int16_t>(a), as<std::int16_t>(b))) & 0xffff;
    return low | (static_cast<U>(operation(as<std::int16_t>(a >> 16), as<std::int16_t>(b >> 16))) & 0xffff)
                     << 16;
  };
  const auto sources = combinations(edges_of_32_bits(), 2);
  check({"add.u16x2 %r0, %r1, %r2;",
         [&](U a, U b, U) { return pair(a, b, [](Wide x, Wide y) { return x + y; }); }},
        sources, 32);
  check({"min.s16x2 %r0, %r1, %r2;",
         [&](U a, U b, U) { return pair(a, b, [](Wide x, Wide y) { return std::min(x, y); }); }},
        sources, 32);
  check({"max.s16x2 %r0, %r1, %r2;",
         [&](U a, U b, U) { return pair(a, b, [](Wide x, Wide y) { return std::max(x, y); }); }},
        sources, 32);
}

}  // namespace integer_test
}  // namespace opgate::simulator::tests
