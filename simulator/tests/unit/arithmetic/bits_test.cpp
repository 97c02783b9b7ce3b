// Logic, shifts, fields of bits and permutations, against loops over single bits.
#include <algorithm>

#include "snippet.h"

namespace opgate::simulator::tests {
namespace bits_test {

using U = std::uint64_t;

bool bit(U value, U at) { return at < 64 && (value >> at & 1) != 0; }

const std::vector<Sources>& pairs() {
  static const std::vector<Sources> all = combinations(edges_of_32_bits(), 2);
  return all;
}

const std::vector<Sources>& triples() {
  static const std::vector<Sources> all = combinations(edges_of_32_bits(), 3);
  return all;
}

TEST(SimulatedBits, Logic) {
  const std::vector<Row> rows{
      {"and.b32 %r0, %r1, %r2;", [](U a, U b, U) { return a & b; }},
      {"or.b32 %r0, %r1, %r2;", [](U a, U b, U) { return a | b; }},
      {"xor.b32 %r0, %r1, %r2;", [](U a, U b, U) { return a ^ b; }},
      {"not.b32 %r0, %r1;", [](U a, U, U) { return ~a; }},
      {"cnot.b32 %r0, %r1;", [](U a, U, U) { return a == 0 ? 1 : 0; }},
      {"and.pred %p0, %p1, %p2;", [](U a, U b, U) { return a != 0 && b != 0; }},
      {"xor.pred %p0, %p1, %p2;", [](U a, U b, U) { return (a != 0) != (b != 0); }},
      {"or.pred %p0, %p1, %p2;", [](U a, U b, U) { return a != 0 || b != 0; }},
      {"not.pred %p0, %p1;", [](U a, U, U) { return a == 0; }},
      {"and.pred %p0, %p1, !%p2;", [](U a, U b, U) { return a != 0 && b == 0; }},
      {"mov.pred %p0, %p1;", [](U a, U, U) { return a != 0; }},
  };
  for (const Row& row : rows) check(row, pairs(), 32);
  check({"and.b64 %rd0, %rd1, %rd2;", [](U a, U b, U) { return a & b; }}, combinations(edges_of_64_bits(), 2),
        64);
  check({"not.b64 %rd0, %rd1;", [](U a, U, U) { return ~a; }}, combinations(edges_of_64_bits(), 1), 64);
  check({"xor.b16 %h0, %h1, %h2;", [](U a, U b, U) { return a ^ b; }}, combinations(edges_of_16_bits(), 2),
        16);
  check({"not.b16 %h0, %h1;", [](U a, U, U) { return ~a; }}, combinations(edges_of_16_bits(), 1), 16);
}

TEST(SimulatedBits, ShiftsBeyondTheWidth) {
  check({"shl.b32 %r0, %r1, %r2;", [](U a, U b, U) { return b > 31 ? 0 : a << b; }}, pairs(), 32);
  check({"shr.u32 %r0, %r1, %r2;", [](U a, U b, U) { return b > 31 ? 0 : a >> b; }}, pairs(), 32);
  check({"shr.s32 %r0, %r1, %r2;",
         [](U a, U b, U) {
           return static_cast<U>(std::int64_t{static_cast<std::int32_t>(a)} >> std::min<U>(b, 32));
         }},
        pairs(), 32);
  // A shift by 64 bits takes its distance from a register of 32 bits.
  check({"shl.b64 %rd0, %rd1, %r2;", [](U a, U b, U) { return (b & 0xffffffff) > 63 ? 0 : a << (b & 63); }},
        combinations(edges_of_64_bits(), 2), 64);
  check({"shr.u64 %rd0, %rd1, %r2;", [](U a, U b, U) { return (b & 0xffffffff) > 63 ? 0 : a >> (b & 63); }},
        combinations(edges_of_64_bits(), 2), 64);
  check({"shr.s64 %rd0, %rd1, %r2;",
         [](U a, U b, U) {
           return static_cast<U>(static_cast<std::int64_t>(a) >> std::min<U>(b & 0xffffffff, 63));
         }},
        combinations(edges_of_64_bits(), 2), 64);
  check({"shl.b16 %h0, %h1, %r2;", [](U a, U b, U) { return b > 15 ? 0 : a << b; }},
        combinations(edges_of_16_bits(), 2), 16);
  check({"shr.s16 %h0, %h1, %r2;",
         [](U a, U b, U) {
           return static_cast<U>(std::int64_t{static_cast<std::int16_t>(a)} >> std::min<U>(b, 16));
         }},
        combinations(edges_of_16_bits(), 2), 16);
}

TEST(SimulatedBits, FunnelShifts) {
  const auto joined = [](U a, U b) { return a | b << 32; };
  check({"shf.l.wrap.b32 %r0, %r1, %r2, %r3;", [&](U a, U b, U c) { return joined(a, b) << (c & 31) >> 32; }},
        triples(), 32);
  check({"shf.r.wrap.b32 %r0, %r1, %r2, %r3;", [&](U a, U b, U c) { return joined(a, b) >> (c & 31); }},
        triples(), 32);
  check({"shf.l.clamp.b32 %r0, %r1, %r2, %r3;",
         [&](U a, U b, U c) { return c >= 32 ? a : joined(a, b) << c >> 32; }},
        triples(), 32);
  check(
      {"shf.r.clamp.b32 %r0, %r1, %r2, %r3;", [&](U a, U b, U c) { return c >= 32 ? b : joined(a, b) >> c; }},
      triples(), 32);
}

U count(U value, int bits) {
  U ones = 0;
  for (int i = 0; i < bits; ++i) ones += bit(value, static_cast<U>(i)) ? 1 : 0;
  return ones;
}

U leading_zeros(U value, int bits) {
  U zeros = 0;
  for (int i = bits - 1; i >= 0 && !bit(value, static_cast<U>(i)); --i) ++zeros;
  return zeros;
}

U reversed(U value, int bits) {
  U result = 0;
  for (int i = 0; i < bits; ++i) result |= static_cast<U>(bit(value, static_cast<U>(i))) << (bits - 1 - i);
  return result;
}

TEST(SimulatedBits, Counts) {
  check({"popc.b32 %r0, %r1;", [](U a, U, U) { return count(a, 32); }}, combinations(edges_of_32_bits(), 1),
        32);
  check({"popc.b64 %r0, %rd1;", [](U a, U, U) { return count(a, 64); }}, combinations(edges_of_64_bits(), 1),
        32);
  check({"clz.b32 %r0, %r1;", [](U a, U, U) { return leading_zeros(a, 32); }},
        combinations(edges_of_32_bits(), 1), 32);
  check({"clz.b64 %r0, %rd1;", [](U a, U, U) { return leading_zeros(a, 64); }},
        combinations(edges_of_64_bits(), 1), 32);
  check({"brev.b32 %r0, %r1;", [](U a, U, U) { return reversed(a, 32); }},
        combinations(edges_of_32_bits(), 1), 32);
  check({"brev.b64 %rd0, %rd1;", [](U a, U, U) { return reversed(a, 64); }},
        combinations(edges_of_64_bits(), 1), 64);
}

TEST(SimulatedBits, HighestBit) {
  const auto highest = [](U value, int bits, bool is_signed) -> int {
    const bool sign = is_signed && bit(value, static_cast<U>(bits - 1));
    for (int i = bits - 1; i >= 0; --i) {
      if (bit(value, static_cast<U>(i)) != sign) return i;
    }
    return -1;
  };
  check({"bfind.u32 %r0, %r1;", [&](U a, U, U) { return static_cast<U>(highest(a, 32, false)); }},
        combinations(edges_of_32_bits(), 1), 32);
  check({"bfind.s32 %r0, %r1;", [&](U a, U, U) { return static_cast<U>(highest(a, 32, true)); }},
        combinations(edges_of_32_bits(), 1), 32);
  check({"bfind.s64 %r0, %rd1;", [&](U a, U, U) { return static_cast<U>(highest(a, 64, true)); }},
        combinations(edges_of_64_bits(), 1), 32);
  check({"bfind.shiftamt.u32 %r0, %r1;",
         [&](U a, U, U) {
           return static_cast<U>(highest(a, 32, false) < 0 ? -1 : 31 - highest(a, 32, false));
         }},
        combinations(edges_of_32_bits(), 1), 32);
}

// By the pseudo code of the manual, of which an H100 departs for 64 bits: it does not cut the numbers to
// eight bits.
U extracted(U a, U at, U length, int bits, bool is_signed) {
  if (bits == 32) at &= 0xff;
  if (bits == 32) length &= 0xff;
  const U top = std::min<U>(at + length - 1, static_cast<U>(bits - 1));
  const bool sign = is_signed && length != 0 && bit(a, top);
  U result = 0;
  for (U i = 0; i < static_cast<U>(bits); ++i) {
    const bool value = i < length && at + i < static_cast<U>(bits) ? bit(a, at + i) : sign;
    result |= static_cast<U>(value) << i;
  }
  return result;
}

TEST(SimulatedBits, Fields) {
  const std::vector<std::uint64_t> places{0, 1, 5, 16, 31, 32, 40, 63, 64, 255, 256};
  std::vector<Sources> sources;
  for (const std::uint64_t value : edges_of_64_bits()) {
    for (const std::uint64_t at : places) {
      for (const std::uint64_t length : places) sources.push_back({value, at, length});
    }
  }
  check({"bfe.u32 %r0, %r1, %r2, %r3;",
         [](U a, U b, U c) { return extracted(a & 0xffffffff, b, c, 32, false); }},
        sources, 32);
  check({"bfe.s32 %r0, %r1, %r2, %r3;",
         [](U a, U b, U c) { return extracted(a & 0xffffffff, b, c, 32, true); }},
        sources, 32);
  check({"bfe.u64 %rd0, %rd1, %r2, %r3;", [](U a, U b, U c) { return extracted(a, b, c, 64, false); }},
        sources, 64);
  check({"bfe.s64 %rd0, %rd1, %r2, %r3;", [](U a, U b, U c) { return extracted(a, b, c, 64, true); }},
        sources, 64);
  const auto inserted = [](U field, U into, U at, U length, U bits) {
    if (bits == 32) at &= 0xff;
    if (bits == 32) length &= 0xff;
    for (U i = 0; i < length && at + i < bits; ++i)
      into = (into & ~(U{1} << (at + i))) | static_cast<U>(bit(field, i)) << (at + i);
    return into;
  };
  check({"bfi.b32 %r0, %r1, 0xA5A5A5A5, %r2, %r3;",
         [&](U a, U b, U c) { return inserted(a, 0xa5a5a5a5, b, c, 32); }},
        sources, 32);
  check({"bfi.b64 %rd0, %rd1, 0x5A5AA5A51234FEDC, %r2, %r3;",
         [&](U a, U b, U c) { return inserted(a, 0x5a5aa5a51234fedc, b, c, 64); }},
        sources, 64);
  check({"szext.clamp.s32 %r0, %r1, %r2;",
         [](U a, U b, U) { return extracted(a, 0, std::min<U>(b, 32), 32, true); }},
        pairs(), 32);
  check({"szext.wrap.u32 %r0, %r1, %r2;", [](U a, U b, U) { return extracted(a, 0, b & 31, 32, false); }},
        pairs(), 32);
  check({"bmsk.clamp.b32 %r0, %r1, %r2;",
         [](U a, U b, U) { return a > 31 ? 0 : (b > 31 ? U{0xffffffff} : (U{1} << b) - 1) << a; }},
        pairs(), 32);
  check({"bmsk.wrap.b32 %r0, %r1, %r2;", [](U a, U b, U) { return ((U{1} << (b & 31)) - 1) << (a & 31); }},
        pairs(), 32);
}

TEST(SimulatedBits, NthSetBit) {
  EXPECT_EQ(evaluate_one("fns.b32 %r0, %r1, %r2, %r3;", {0xff00, 0, 1}), 8u);
  EXPECT_EQ(evaluate_one("fns.b32 %r0, %r1, %r2, %r3;", {0xff00, 10, 2}), 11u);
  EXPECT_EQ(evaluate_one("fns.b32 %r0, %r1, %r2, %r3;", {0xff00, 31, 0xffffffff}), 15u);
  EXPECT_EQ(evaluate_one("fns.b32 %r0, %r1, %r2, %r3;", {0xff00, 9, 0}), 9u);
  EXPECT_EQ(evaluate_one("fns.b32 %r0, %r1, %r2, %r3;", {0xff00, 0, 9}), 0xffffffffu);
}

TEST(SimulatedBits, LookupTables) {
  for (const int table : {0x00, 0x96, 0xe8, 0x1b, 0xff}) {
    const std::string text = "lop3.b32 %r0, %r1, %r2, %r3, " + std::to_string(table) + ";";
    check({text.c_str(),
           [&](U a, U b, U c) {
             U result = 0;
             for (U i = 0; i < 32; ++i)
               result |= static_cast<U>(bit(static_cast<U>(table), bit(a, i) * 4 + bit(b, i) * 2 + bit(c, i)))
                         << i;
             return result;
           }},
          triples(), 32);
  }
  check({"lop3.or.b32 %r4|%p0, %r1, %r2, %r3, 0x80, %p2;",
         [](U a, U b, U c) { return (a & b & c) != 0 || b != 0; }},
        triples(), 32);
  check({"lop3.and.b32 %r4|%p0, %r1, %r2, %r3, 0xfe, %p2;",
         [](U a, U b, U c) { return (a | b | c) != 0 && b != 0; }},
        triples(), 32);
}

TEST(SimulatedBits, Permutations) {
  const auto byte = [](U a, U b, U at) { return (a | b << 32) >> (8 * (at & 7)) & 0xff; };
  check({"prmt.b32 %r0, %r1, %r2, %r3;",
         [&](U a, U b, U c) {
           U result = 0;
           for (U i = 0; i < 4; ++i) {
             const U control = c >> (4 * i) & 15;
             const U value = byte(a, b, control);
             result |= (control < 8 ? value : (value & 0x80) != 0 ? 0xff : 0) << (8 * i);
           }
           return result;
         }},
        triples(), 32);
  // The tables of the manual, one row for each value of the control.
  const auto check_mode = [&](const std::string& mode, const std::vector<std::string>& rows) {
    const std::string text = "prmt.b32." + mode + " %r0, %r1, %r2, %r3;";
    check({text.c_str(),
           [&](U a, U b, U c) {
             U result = 0;
             for (U i = 0; i < 4; ++i)
               result |= byte(a, b, static_cast<U>(rows[c & 3][3 - i] - '0')) << (8 * i);
             return result;
           }},
          triples(), 32);
  };
  check_mode("f4e", {"3210", "4321", "5432", "6543"});
  check_mode("b4e", {"5670", "6701", "7012", "0123"});
  check_mode("rc8", {"0000", "1111", "2222", "3333"});
  check_mode("ecl", {"3210", "3211", "3222", "3333"});
  check_mode("ecr", {"0000", "1110", "2210", "3210"});
  check_mode("rc16", {"1010", "3232", "1010", "3232"});
}

TEST(SimulatedBits, PartsOfRegisters) {
  const std::vector<Sources> sources = combinations(edges_of_64_bits(), 2);
  check({"mov.b64 %rd0, {%r1, %r2};", [](U a, U b, U) { return (a & 0xffffffff) | b << 32; }}, sources, 64);
  check({"mov.b64 {%r4, %r0}, %rd1;", [](U a, U, U) { return a >> 32; }}, sources, 32);
  check({"mov.b32 {%h4, %h0}, %r1;", [](U a, U, U) { return a >> 16; }}, sources, 16);
  check({"mov.b32 %r0, {%h1, %h2};", [](U a, U b, U) { return (a & 0xffff) | (b & 0xffff) << 16; }}, sources,
        32);
  check({"mov.b64 %rd0, {%h1, %h2, %h2, %h1};",
         [](U a, U b, U) { return (a & 0xffff) | (b & 0xffff) << 16 | (b & 0xffff) << 32 | a << 48; }},
        sources, 64);
  check({"mov.b64 {_, %r0}, %rd1;", [](U a, U, U) { return a >> 32; }}, sources, 32);
}

}  // namespace bits_test
}  // namespace opgate::simulator::tests
