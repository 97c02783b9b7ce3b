// The scalar video instructions: parts of registers, results of more than 32 bits, and second operations.
#include <algorithm>

#include "snippet.h"

namespace opgate::simulator::tests {
namespace video_test {

using U = std::uint32_t;
using Wide = std::int64_t;

constexpr std::uint64_t kEdges[] = {
    0,      1,      2,          31,         32,         33,         0x7f,       0x80,       0xff,      0x7fff,
    0x8000, 0xffff, 0x12345678, 0x89abcdef, 0x7fffffff, 0x80000000, 0x80ff7f01, 0xffffffff, 0xfffffffe};

Wide as_signed(U value) { return static_cast<std::int32_t>(value); }
Wide byte(U value, int index) { return static_cast<std::int8_t>(value >> (8 * index)); }
Wide half(U value, int index) { return static_cast<std::uint16_t>(value >> (16 * index)); }

template <class Expected>
void check(const std::string& text, Expected expected) {
  const std::vector<Sources> sources = combinations({std::begin(kEdges), std::end(kEdges)}, 3);
  const std::vector<std::uint64_t> results = evaluate(text, sources);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const auto source = [&](std::size_t which) { return static_cast<U>(sources[i][which]); };
    ASSERT_EQ(results[i], static_cast<U>(expected(source(0), source(1), source(2))))
        << text << " of " << source(0) << ", " << source(1) << ", " << source(2);
  }
}

TEST(SimulatedVideo, WholeRegisters) {
  check("vadd.u32.u32.u32 %r0, %r1, %r2;", [](U a, U b, U) { return a + b; });
  check("vadd.s32.s32.s32.sat %r0, %r1, %r2;",
        [](U a, U b, U) { return std::clamp<Wide>(as_signed(a) + as_signed(b), INT32_MIN, INT32_MAX); });
  check("vsub.u32.u32.s32.sat %r0, %r1, %r2;",
        [](U a, U b, U) { return std::clamp<Wide>(Wide{a} - as_signed(b), 0, UINT32_MAX); });
  check("vabsdiff.u32.s32.s32 %r0, %r1, %r2;",
        [](U a, U b, U) { return std::abs(as_signed(a) - as_signed(b)); });
  check("vmin.s32.s32.u32 %r0, %r1, %r2;", [](U a, U b, U) { return std::min(as_signed(a), Wide{b}); });
  check("vmax.u32.u32.u32 %r0, %r1, %r2;", [](U a, U b, U) { return std::max(a, b); });
}

TEST(SimulatedVideo, Shifts) {
  check("vshl.u32.u32.u32.clamp %r0, %r1, %r2;", [](U a, U b, U) { return b > 31 ? 0 : a << b; });
  check("vshl.u32.u32.u32.sat.wrap %r0, %r1, %r2;",
        [](U a, U b, U) { return std::min(std::uint64_t{a} << (b & 31), std::uint64_t{UINT32_MAX}); });
  check("vshr.s32.s32.u32.clamp %r0, %r1, %r2;",
        [](U a, U b, U) { return as_signed(a) >> std::min(b, U{32}); });
  check("vshr.u32.u32.u32.wrap.add %r0, %r1, %r2, %r3;", [](U a, U b, U c) { return (a >> (b & 31)) + c; });
}

TEST(SimulatedVideo, PartsOfRegisters) {
  check("vadd.s32.s32.s32 %r0, %r1.b3, %r2.b1;", [](U a, U b, U) { return byte(a, 3) + byte(b, 1); });
  check("vsub.s32.u32.u32 %r0, %r1.h1, %r2.h0;", [](U a, U b, U) { return half(a, 1) - half(b, 0); });
  check("vmax.s32.s32.s32.sat %r0.b2, %r1, %r2, %r3;", [](U a, U b, U c) {
    const Wide most = std::clamp<Wide>(std::max(as_signed(a), as_signed(b)), -128, 127);
    return (c & 0xff00ffff) | static_cast<U>(most & 0xff) << 16;
  });
  check("vabsdiff.u32.u32.u32 %r0.h1, %r1.b0, %r2.h0, %r3;",
        [](U a, U b, U c) { return (c & 0xffff) | static_cast<U>(std::abs((a & 0xff) - half(b, 0))) << 16; });
}

TEST(SimulatedVideo, SecondOperations) {
  check("vadd.u32.u32.u32.add %r0, %r1, %r2, %r3;", [](U a, U b, U c) { return a + b + c; });
  check("vmin.s32.s32.s32.max %r0, %r1, %r2, %r3;",
        [](U a, U b, U c) { return std::max(std::min(as_signed(a), as_signed(b)), as_signed(c)); });
  check("vmax.s32.u32.u32.sat.min %r0, %r1, %r2, %r3;", [](U a, U b, U c) {
    return std::min(std::min(Wide{std::max(a, b)}, Wide{INT32_MAX}), as_signed(c));
  });
}

TEST(SimulatedVideo, Comparisons) {
  check("vset.s32.s32.lt %r0, %r1, %r2;", [](U a, U b, U) { return as_signed(a) < as_signed(b) ? 1 : 0; });
  check("vset.u32.s32.ge.add %r0, %r1, %r2, %r3;",
        [](U a, U b, U c) { return (Wide{a} >= as_signed(b) ? 1 : 0) + c; });
  check("vset.u32.u32.eq %r0, %r1.b0, %r2.b0;", [](U a, U b, U) { return (a & 0xff) == (b & 0xff) ? 1 : 0; });
}

TEST(SimulatedVideo, WhatIsNotSimulated) {
  FakeDevice device;
  const std::uint64_t memory = device.allocate(std::vector<std::uint32_t>(4));
  for (const char* const text : {"add.u32 %r2, %r1.b0, 1;", "vmax.u32.u32.u32.min %r2, %r1, %r1, %r1;",
                                 "vmad.u32.u32.u32 %r2, %r1, %r1, %r1;"}) {
    const Outcome outcome = run(device, kernel_of(text), {}, {1}, Arguments(memory));
    EXPECT_EQ(static_cast<int>(outcome.fault), static_cast<int>(Fault::unsupported)) << outcome.message;
  }
}

}  // namespace video_test
}  // namespace opgate::simulator::tests
