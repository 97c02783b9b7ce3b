// atom and red, each by many threads.
#include "both_ways.h"
#include "reference_floats.h"

namespace opgate::simulator::tests {
namespace atomic_test {

// What is in memory after the instruction was executed by 100 threads; %r1 is the index of the thread, %rd1
// the address.
template <class T>
T after(const std::string& body, T before) {
  FakeDevice device;
  const std::uint64_t memory = device.allocate(std::vector<T>{before, T{}});
  expect_no_fault(run(device, kernel_of(body), {}, {100}, Arguments(memory)));
  return device.read<T>(memory)[0];
}

TEST(SimulatedAtomics, Integers) {
  EXPECT_EQ(after<std::uint32_t>("atom.global.add.u32 %r2, [%rd1], %r1;", 5), 4955u);
  EXPECT_EQ(after<std::uint32_t>("red.relaxed.gpu.global.add.s32 [%rd1], 2;", 0xffffffff), 199u);
  EXPECT_EQ(after<std::int32_t>("sub.s32 %r2, 20, %r1; red.global.min.s32 [%rd1], %r2;", 3), -79);
  EXPECT_EQ(after<std::uint32_t>("sub.s32 %r2, 20, %r1; red.global.max.u32 [%rd1], %r2;", 3), 0xffffffffu);
  EXPECT_EQ(after<std::int32_t>("sub.s32 %r2, 20, %r1; atom.acq_rel.sys.global.max.s32 %r3, [%rd1], %r2;", 3),
            20);
  EXPECT_EQ(after<std::uint32_t>("shl.b32 %r2, 1, %r1; red.global.or.b32 [%rd1], %r2;", 0), 0xffffffffu);
  EXPECT_EQ(after<std::uint32_t>("not.b32 %r2, %r1; red.global.and.b32 [%rd1], %r2;", 0xff), 0x80u);
  EXPECT_EQ(after<std::uint32_t>("red.global.xor.b32 [%rd1], %r1;", 0), 0u);
  EXPECT_EQ(after<std::uint32_t>("red.global.inc.u32 [%rd1], 6;", 0), 100u % 7);
  EXPECT_EQ(after<std::uint32_t>("atom.global.dec.u32 %r2, [%rd1], 6;", 0), 5u);
  EXPECT_EQ(after<std::uint32_t>("atom.exch.b32 %r2, [%rd1], %r1;", 7), 99u);
  EXPECT_EQ(
      after<std::uint64_t>("cvt.u64.u32 %rd2, %r1; atom.global.add.u64 %rd3, [%rd1], %rd2;", 0xffffffff),
      0xffffffffu + std::uint64_t{4950});
  EXPECT_EQ(
      after<std::int64_t>("cvt.s64.s32 %rd2, %r1; neg.s64 %rd2, %rd2; red.global.min.s64 [%rd1], %rd2;", 4),
      -99);
  EXPECT_EQ(after<std::uint64_t>("atom.global.exch.b64 %rd3, [%rd1], 12;", 4), 12u);
}

TEST(SimulatedAtomics, CompareAndSwap) {
  EXPECT_EQ(after<std::uint32_t>("add.u32 %r2, %r1, 1; atom.global.cas.b32 %r3, [%rd1], %r1, %r2;", 0), 100u);
  EXPECT_EQ(after<std::uint64_t>("atom.relaxed.cta.global.cas.b64 %rd3, [%rd1], 5, 9;", 5), 9u);
  EXPECT_EQ(
      after<std::uint16_t>("mov.u16 %h1, 3; mov.u16 %h2, 8; atom.global.cas.b16 %h3, [%rd1], %h1, %h2;", 3),
      8u);
  EXPECT_EQ(after<std::uint32_t>("atom.global.cas.b32 _, [%rd1], 4, 9;", 5), 5u);
}

// 64 threads change two places with values of all kinds, and keep the old ones.
// Returns how many instructions of compiled code the interpreter has executed.
std::uint64_t expect_same_both_ways(const std::string& instruction, const std::string& type,
                                    const std::string& space) {
  const bool swaps = instruction == "cas";  // the value 3 for another one
  const bool is_wide = type.ends_with("64");
  const std::string value = is_wide ? "%rd6" : "%r6";
  const std::string old = is_wide ? "%rd7" : "%r7";
  const std::string at = space == ".shared" ? "%r8" : "%rd8";
  const std::string body =
      ".shared .align 8 .b8 s[16]; mov.u32 %r8, s; mov.b64 %rd9, 3; setp.lt.u32 %p1, %r1, 2;\n"
      "shl.b32 %r9, %r1, 3; add.u32 %r10, %r8, %r9; @%p1 st.shared.b64 [%r10], %rd9; bar.sync 0;\n"
      "and.b32 %r9, %r9, 8; add.u32 %r8, %r8, %r9; cvt.u64.u32 %rd8, %r9; add.u64 %rd8, %rd8, %rd1;\n"
      "mul.lo.u32 %r6, %r1, 0x9e3779b1; setp.lt.u32 %p2, %r1, 20; selp.u32 %r6, %r1, %r6, "
      "%p2;\n"
      "cvt.u64.u32 %rd6, %r6; shl.b64 %rd7, %rd6, 31; xor.b64 %rd6, %rd6, %rd7; mov.u32 %r7, 0; mov.b64 "
      "%rd7, 0;\n" +
      std::string("atom") + space + "." + instruction + "." + type + " " + old + ", [" + at + "], " +
      (swaps ? "3, " : "") + value + ";\n" +
      (swaps ? "" : "red" + space + "." + instruction + "." + type + " [" + at + "], " + value + ";\n") +
      "cvt.u64.u32 %rd5, %r7; add.u64 %rd7, %rd7, %rd5; mul.wide.u32 %rd2, %r1, 8; add.u64 %rd2, %rd2, "
      "%rd1;\n"
      "st.global.b64 [%rd2+32], %rd7; bar.sync 0; @!%p1 ret; ld.shared.b64 %rd7, [%r10]; st.global.b64 "
      "[%rd2+16], "
      "%rd7;";
  SCOPED_TRACE(instruction + "." + type + space);
  const Ran ran = run_both_ways(kernel_of(body), [](FakeDevice& device, std::vector<std::uint64_t>& results) {
    results = {device.allocate(std::vector<std::uint64_t>(4 + 64, 3))};
    return launch_of("k", {}, {64}, Arguments(results[0]));
  });
  expect_no_fault(ran.outcome);
  return ran.left_to_interpreter;
}

TEST(SimulatedAtomics, OfIntegersAreTheSameInCompiledCode) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> all{
      {"add", {"u32", "s32", "u64"}},
      {"min", {"u32", "s32", "u64", "s64"}},
      {"max", {"u32", "s32", "u64", "s64"}},
      {"inc", {"u32"}},
      {"dec", {"u32"}},
      {"and", {"b32", "b64"}},
      {"or", {"b32", "b64"}},
      {"xor", {"b32", "b64"}},
      {"exch", {"b32", "b64"}},
      {"cas", {"b32", "b64"}}};
  for (const std::string space : {".global", ".shared", ""}) {
    for (const auto& [instruction, types] : all) {
      for (const std::string& type : types) EXPECT_EQ(expect_same_both_ways(instruction, type, space), 0u);
    }
  }
}

// Half of the values are bits of any kind, among them subnormal numbers and NaN.
TEST(SimulatedAtomics, SumsOfFloatsAreTheSameInCompiledCode) {
  for (const std::string space : {".global", ".shared", ""}) {
    for (const std::string type : {"f32", "f64", "noftz.f16x2", "noftz.bf16x2"})
      EXPECT_EQ(expect_same_both_ways("add", type, space), 0u);
  }
}

TEST(SimulatedAtomics, Floats) {
  EXPECT_EQ(after<float>("atom.global.add.f32 %f1, [%rd1], 0f3F000000;", 1.0f), 51.0f);
  EXPECT_EQ(after<double>("red.global.add.f64 [%rd1], 0d3FE0000000000000;", 1.0), 51.0);
  EXPECT_EQ(after<std::uint16_t>("mov.b16 %h1, 0x3c00; red.global.add.noftz.f16 [%rd1], %h1;", 0x3c00),
            half_format().bits(Quad(101)));
  EXPECT_EQ(after<std::uint16_t>("mov.b16 %h1, 0x3f80; red.global.add.noftz.bf16 [%rd1], %h1;", 0x3f80),
            bfloat16_format().bits(Quad(101)));
  EXPECT_EQ(after<std::uint32_t>("red.global.add.noftz.f16x2 [%rd1], %r1;", 0x3c000000) >> 16, 0x3c00u);
  EXPECT_EQ(after<std::uint32_t>("mov.b32 %r2, 0x40003c00; atom.global.add.noftz.f16x2 %r3, [%rd1], %r2;", 0),
            (half_format().bits(Quad(200)) << 16 | half_format().bits(Quad(100))));
  // A device flushes subnormal numbers in global memory, and keeps them in shared memory.
  EXPECT_EQ(after<std::uint32_t>("red.global.add.f32 [%rd1], 0f00000001;", 0), 0u);
  EXPECT_EQ(
      after<std::uint32_t>(
          R"(.shared .f32 s; st.shared.f32 [s], 0f00000000; bar.sync 0; red.shared.add.f32 [s], 0f00000001; bar.sync 0;
    ld.shared.f32 %f1, [s]; st.global.f32 [%rd1], %f1;)",
          0),
      100u);
}

TEST(SimulatedAtomics, GenericAddresses) {
  EXPECT_EQ(after<std::uint32_t>("atom.cas.b32 %r2, [%rd1], 5, 9;", 5), 9u);
  EXPECT_EQ(after<std::uint32_t>("mov.b32 %r2, 0x3f803f80; atom.add.noftz.bf16x2 %r3, [%rd1], %r2;", 0),
            0x42c842c8u);
  EXPECT_EQ(after<std::uint32_t>(R"(.shared .u32 s; st.shared.u32 [s], 0; bar.sync 0; cvta.shared.u64 %rd2, s;
    atom.add.u32 %r2, [%rd2], 2; bar.sync 0; ld.shared.u32 %r3, [s]; st.global.u32 [%rd1], %r3;)",
                                 0),
            200u);
}

TEST(SimulatedAtomics, ExtremaOfHalves) {
  const std::string number = "cvt.rn.f16.u32 %h1, %r1; neg.f16 %h1, %h1; ";
  EXPECT_EQ(after<std::uint16_t>(number + "atom.global.min.noftz.f16 %h2, [%rd1], %h1;", 0x3c00),
            half_format().bits(Quad(-99)));
  EXPECT_EQ(after<std::uint16_t>(number + "atom.global.max.noftz.f16 %h2, [%rd1], %h1;", 0xfc00), 0x8000u);
  EXPECT_EQ(after<std::uint16_t>("mov.b16 %h1, 0x4000; red.global.max.noftz.bf16 [%rd1], %h1;", 0x7fc0),
            0x4000u);
}

TEST(SimulatedAtomics, Vectors) {
  FakeDevice device;
  const std::uint64_t memory = device.allocate(std::vector<float>{1, 2, 3, 4});
  expect_no_fault(run(device, kernel_of(R"(mov.f32 %f1, 0f3F800000; mov.f32 %f2, 0f40000000;
    red.global.v4.f32.add [%rd1], {%f1, %f2, %f1, %f2}; atom.global.v2.f32.add {%f3, %f4}, [%rd1+8], {%f2, %f4};)"),
                      {}, {}, Arguments(memory)));
  EXPECT_EQ(device.read<float>(memory), (std::vector<float>{2, 4, 6, 6}));
}

// As Triton adds to four elements: with more registers than other instructions have.
TEST(SimulatedAtomics, VectorsThatReturnTheOldValues) {
  FakeDevice device;
  const std::uint64_t memory = device.allocate(std::vector<float>{1, 2, 3, 4, 0, 0, 0, 0});
  expect_no_fault(run(device, kernel_of(R"(mov.f32 %f1, 0f3F800000; mov.f32 %f2, 0f40000000;
    atom.global.gpu.acq_rel.add.v4.f32 {%f3, %f4, %f5, %f6}, [%rd1], {%f1, %f2, %f1, %f2};
    st.global.v4.f32 [%rd1+16], {%f3, %f4, %f5, %f6};)"),
                      {}, {}, Arguments(memory)));
  EXPECT_EQ(device.read<float>(memory), (std::vector<float>{2, 4, 4, 6, 1, 2, 3, 4}));
  const std::uint64_t halves = device.allocate(std::vector<std::uint16_t>(8, 0x3c00));
  expect_no_fault(run(device, kernel_of(R"(mov.b16 %h1, 0x3c00; mov.b16 %h2, 0x4000;
    atom.global.add.noftz.v8.f16 {%h3, %h4, %h5, %h6, %h7, %h8, %h9, %h10}, [%rd1],
      {%h1, %h2, %h1, %h2, %h1, %h2, %h1, %h3};)"),
                      {}, {}, Arguments(halves)));
  EXPECT_EQ(device.read<std::uint16_t>(halves),
            (std::vector<std::uint16_t>{0x4000, 0x4200, 0x4000, 0x4200, 0x4000, 0x4200, 0x4000, 0x3c00}));
}

TEST(SimulatedAtomics, OldValuesAreAllDifferent) {
  const std::vector<std::uint32_t> values = values_of(kernel_of(R"(atom.global.add.u32 %r2, [%rd1], 1;
    mul.wide.u32 %rd2, %r2, 4; add.u64 %rd2, %rd2, %rd1; st.global.u32 [%rd2+4], 1;)"),
                                                      257, {64}, {4});
  EXPECT_EQ(values, [] {
    std::vector<std::uint32_t> expected(257, 1);
    expected[0] = 256;
    return expected;
  }());
}

TEST(SimulatedAtomics, LockOfABlock) {
  const std::vector<std::uint32_t> values = values_of(kernel_of(R"(
again: atom.global.cas.b32 %r2, [%rd1], 0, 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra again;
    ld.volatile.global.u32 %r3, [%rd1+4]; nanosleep.u32 20; add.u32 %r3, %r3, 1; st.volatile.global.u32 [%rd1+4], %r3;
    membar.gl; atom.global.exch.b32 %r2, [%rd1], 0;)"),
                                                      2, {96}, {3});
  EXPECT_EQ(values, (std::vector<std::uint32_t>{0, 288}));
}

}  // namespace atomic_test
}  // namespace opgate::simulator::tests
