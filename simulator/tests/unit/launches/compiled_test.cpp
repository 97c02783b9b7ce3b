// Compiled kernels do what the interpreter does, bit by bit and instruction by instruction.
#include <algorithm>
#include <array>
#include <bit>
#include <random>

#include "both_ways.h"
#include "kernels/kernels.h"
#include "random_program.h"

namespace opgate::simulator::tests {
namespace compiled_test {

std::vector<std::uint32_t> random_bits(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::uint32_t> bits(count);
  for (std::uint32_t& value : bits) value = static_cast<std::uint32_t>(random());
  return bits;
}

std::vector<float> random_numbers(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> number(0, 3);
  std::vector<float> numbers(count);
  for (float& value : numbers) value = number(random);
  return numbers;
}

/// `kernel_of` with this body, for which as many values are random as it may write.
Ran run_body(const std::string& body, Extent block, Extent grid = {}, std::uint64_t limit = 100'000'000,
             const std::string& before = "") {
  return run_both_ways(kernel_of(body, before), [&](FakeDevice& device, std::vector<std::uint64_t>& results) {
    results.push_back(device.allocate(random_bits(4096, 7)));
    Launch launch = launch_of("k", grid, block, Arguments(results.front()));
    launch.instruction_limit = limit;
    return launch;
  });
}

// 500 registers matter wherever the warp meets, at 300 places: all of them stay in memory.
std::string many_registers_at_many_stops() {
  constexpr unsigned kIntegers = 400;
  constexpr unsigned kFloats = 100;
  const auto q = [](unsigned number) { return "%q" + std::to_string(number % kIntegers); };
  const auto g = [](unsigned number) { return "%g" + std::to_string(number % kFloats); };
  std::string body = ".reg .b32 %q<400>; .reg .f32 %g<100>;\n";
  for (unsigned k = 0; k < kIntegers; ++k) {
    body += "mad.lo.u32 " + q(k) + ", %r1, " + std::to_string(7 * k + 1) + ", 5;\n";
    if (k < kFloats) body += "mov.b32 " + g(k) + ", " + q(k) + ";\n";
  }
  for (unsigned k = 0; k < 300; ++k) {
    body += "shfl.sync.bfly.b32 %r2, " + q(k) + ", " + std::to_string(1 << k % 5) + ", 31, -1;\n";
    body += "xor.b32 " + q(13 * k) + ", " + q(13 * k) + ", %r2;\n";
    body += "fma.rn.f32 " + g(k) + ", " + g(k + 1) + ", 0f3F000000, " + g(k) + ";\n";
    if (k % 50 == 0) body += "bar.sync 0;\n";
    if (k == 200) body += "setp.gt.u32 %p1, %r1, 95; @%p1 ret;\n";
  }
  body += "mov.u32 %r3, 0;\n";
  for (unsigned k = 0; k < kIntegers; ++k) body += "add.u32 %r3, %r3, " + q(k) + ";\n";
  for (unsigned k = 0; k < kFloats; ++k) body += "mov.b32 %r2, " + g(k) + "; xor.b32 %r3, %r3, %r2;\n";
  return body + "mul.wide.u32 %rd2, %r1, 4; add.u64 %rd2, %rd2, %rd1; st.global.u32 [%rd2], %r3;";
}

TEST(CompiledKernels, WithManyRegistersAtManyStops) {
  const Ran ran = run_body(many_registers_at_many_stops(), {128}, {3});
  expect_no_fault(ran.outcome);
}

TEST(CompiledKernels, OfNvcc) {
  run_both_ways(ptx::whole, [](FakeDevice& device, std::vector<std::uint64_t>& results) {
    const std::uint64_t in = device.allocate(random_bits(1000, 1));
    results.push_back(device.allocate(std::vector<std::uint32_t>(1000)));
    return launch_of("gelu_half", {8}, {128}, Arguments(results[0], in, 1000));
  });
  run_both_ways(ptx::whole, [](FakeDevice& device, std::vector<std::uint64_t>& results) {
    const std::uint64_t in = device.allocate(random_numbers(30010, 2));
    results.push_back(device.allocate(std::vector<float>(1)));
    return launch_of("block_sums", {5}, {192}, Arguments(results[0], in, 30010));
  });
  run_both_ways(ptx::whole, [](FakeDevice& device, std::vector<std::uint64_t>& results) {
    const std::uint64_t in = device.allocate(random_bits(128, 3));
    results.push_back(device.allocate(std::vector<std::uint64_t>(64)));
    return launch_of("hash", {1}, {64}, Arguments(results[0], in, 150));
  });
  run_both_ways(ptx::whole, [](FakeDevice& device, std::vector<std::uint64_t>& results) {
    const std::uint64_t in = device.allocate(std::vector<double>{1, -2, 3, 0.5, 7, 11, -0.25, 2, 1.5});
    results.push_back(device.allocate(std::vector<double>(32)));
    return launch_of("polynomial", {1}, {32}, Arguments(results[0], in, 8));
  });
}

// A compiler may think that a number which becomes an integer and a number again keeps the sign of its zero.
TEST(CompiledKernels, SignsOfZeros) {
  const Ran ran = run_both_ways(
      kernel_of(
          "mul.wide.u32 %rd2, %r1, 4; add.u64 %rd2, %rd2, %rd1; ld.global.f32 %f1, [%rd2]; mul.f32 %f2, %f1, "
          "0f3F22F983; cvt.rni.s32.f32 %r2, %f2; cvt.rn.f32.s32 %f3, %r2; fma.rn.f32 %f4, %f3, 0fBFC90FDA, "
          "%f1; "
          "cvt.rzi.s32.f32 %r4, %f1; cvt.rn.f32.s32 %f6, %r4; mov.f32 %f7, 0f00000000; fma.rn.f32 %f8, %f4, "
          "%f1, %f7; "
          "st.global.f32 [%rd2+64], %f4; st.global.f32 [%rd2+128], %f3; st.global.f32 [%rd2+192], %f6; "
          "st.global.f32 [%rd2+256], %f8;"),
      [](FakeDevice& device, std::vector<std::uint64_t>& results) {
        std::vector<float> values(80);
        const std::array numbers{-0.0f, 0.0f, -0.25f, 0.25f, -0.5f, 0.5f, -1.0f, -0x1p-140f};
        std::copy(numbers.begin(), numbers.end(), values.begin());
        results.push_back(device.allocate(values));
        return launch_of("k", {}, {8}, Arguments(results.front()));
      });
  expect_no_fault(ran.outcome);
  std::uint32_t of_quarter = 1;
  std::memcpy(&of_quarter, ran.memory.front().data() + 128 + 8, 4);
  EXPECT_EQ(of_quarter, 0u);
}

TEST(CompiledKernels, RandomPrograms) {
  for (unsigned seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(seed);
    RandomProgram program(seed);
    const Ran ran =
        run_both_ways(program.text(), [&](FakeDevice& device, std::vector<std::uint64_t>& results) {
          // Half of the values are bits of any kind, which are mostly large numbers, and half are small
          // numbers.
          std::vector<std::uint32_t> values = random_bits(32 * 128, seed);
          for (std::size_t i = 0; i < values.size(); i += 2)
            values[i] =
                std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<int>(values[i])) * 0x1p-28f);
          results.push_back(device.allocate(values));
          return launch_of("k", {2}, {64}, Arguments(results.front()));
        });
    expect_no_fault(ran.outcome);
  }
}

// Atomic additions of floating-point numbers show in which order threads run, and threads take turns.
TEST(CompiledKernels, ThreadsTakeTurnsAlike) {
  const Ran ran = run_body(
      R"(cvt.rn.f32.u32 %f1, %r1; add.f32 %f1, %f1, 0f3F99999A; mov.u32 %r2, 0; mov.f32 %f2, 0f3F800000;
    again: mul.f32 %f2, %f2, 0f3F8147AE; atom.global.add.f32 %f3, [%rd1], %f1; add.f32 %f1, %f1, %f2;
    add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 700; @%p1 bra again;
    mul.wide.u32 %rd2, %r1, 4; add.u64 %rd2, %rd2, %rd1; st.global.f32 [%rd2+4], %f3;)",
      {64}, {3});
  expect_no_fault(ran.outcome);
  EXPECT_GT(ran.outcome.instructions, std::uint64_t{64} * 3 * 4000);
}

TEST(CompiledKernels, BarriersAndWarps) {
  const Ran ran = run_body(
      R"(.shared .align 4 .b8 s[512]; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd2, %rd2, %rd1; mov.u32 %r2, s; shl.b32 %r3, %r1, 2;
    add.u32 %r2, %r2, %r3; ld.global.f32 %f1, [%rd2]; mov.u32 %r4, 0;
    again: st.shared.f32 [%r2], %f1; bar.sync 0; xor.b32 %r5, %r3, 124; mov.u32 %r6, s; add.u32 %r5, %r5, %r6;
    ld.shared.f32 %f2, [%r5]; bar.sync 0; mov.b32 %r7, %f2; shfl.sync.bfly.b32 %r8|%p2, %r7, 5, 31, -1; mov.b32 %f3, %r8;
    fma.rn.f32 %f1, %f1, 0f3F000000, %f3; setp.gt.f32 %p3, %f1, %f2; vote.sync.ballot.b32 %r9, %p3, -1;
    popc.b32 %r9, %r9; bar.red.popc.u32 %r10, 1, %p3; add.u32 %r10, %r10, %r9; cvt.rn.f32.u32 %f4, %r10; add.f32 %f1, %f1, %f4;
    activemask.b32 %r11; add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, 40; @%p1 bra again;
    st.global.f32 [%rd2], %f1; st.global.u32 [%rd2+2048], %r11;)",
      {128}, {2});
  expect_no_fault(ran.outcome);
}

// All threads meet at a barrier, go on together, and then one of them does something else.
TEST(CompiledKernels, MeetingsThatEnd) {
  const std::string meet =
      "mul.wide.u32 %rd2, %r1, 4; add.u64 %rd2, %rd2, %rd1; mov.u32 %r2, 0; cvt.rn.f32.u32 %f1, %r1;\n"
      "again: bar.sync 0; add.u32 %r2, %r2, 1; atom.global.add.f32 %f2, [%rd1+2048], %f1; add.f32 %f1, %f1, "
      "0f3DCCCCCD; bar.sync 1; ";
  const std::string repeat =
      " setp.lt.u32 %p1, %r2, 9; @%p1 bra again; st.global.f32 [%rd2], %f1; st.global.f32 [%rd2+1024], %f2;";
  for (const char* const other :
       {"setp.eq.u32 %p2, %r2, 5; setp.eq.and.u32 %p2, %r1, 37, %p2; @%p2 ret;",
        "setp.eq.u32 %p2, %r2, 5; setp.gt.and.u32 %p2, %r1, 37, %p2; @%p2 bar.sync 2, 64;",
        "setp.eq.u32 %p2, %r2, 5; setp.eq.and.u32 %p2, %r1, 70, %p2; @%p2 trap;",
        "setp.eq.u32 %p2, %r2, 5; setp.eq.and.u32 %p2, %r1, 70, %p2; @%p2 st.global.u32 [%rd1+-4], 1;",
        "vote.sync.ballot.b32 %r5, %p1, -1; popc.b32 %r5, %r5; cvt.rn.f32.u32 %f5, %r5; add.f32 %f1, %f1, "
        "%f5;",
        "mov.u32 %r6, 0; round: add.u32 %r6, %r6, 1; fma.rn.f32 %f1, %f1, 0f3F7F0000, %f2; setp.lt.u32 %p3, "
        "%r6, "
        "500; @%p3 bra round;",
        "setp.eq.u32 %p2, %r1, 50; mov.u32 %r6, 0; @!%p2 bra end; round: add.u32 %r6, %r6, 1; fma.rn.f32 "
        "%f1, %f1, "
        "0f3F7F0000, %f2; setp.lt.u32 %p3, %r6, 500; @%p3 bra round; end:"}) {
    SCOPED_TRACE(other);
    run_body(meet + other + repeat, {96}, {2});
    for (const std::uint64_t limit : {20000, 21000, 23456}) run_body(meet + other + repeat, {96}, {2}, limit);
  }
}

// The same of a warp. The order in which two warps add to a number is seen in its last bits.
TEST(CompiledKernels, WarpsThatPart) {
  const std::string begin =
      "mul.wide.u32 %rd2, %r1, 4; add.u64 %rd2, %rd2, %rd1; mov.u32 %r2, 0; cvt.rn.f32.u32 %f1, %r1; mov.u32 "
      "%r20, -1;\n"
      "again: add.u32 %r2, %r2, 1; mov.b32 %r5, %f1; shfl.sync.bfly.b32 %r6|%p4, %r5, 3, 31, %r20; mov.b32 "
      "%f2, %r6; "
      "fma.rn.f32 %f1, %f1, 0f3F000000, %f2; add.f32 %f1, %f1, 0f3DCCCCCD; atom.global.add.f32 %f3, "
      "[%rd1+2048], %f1; "
      "mul.f32 %f1, %f1, 0f3F19999A; setp.gt.f32 %p3, %f1, %f3; vote.sync.ballot.b32 %r7, %p3, %r20; ";
  const auto body = [&](const std::string& other, int rounds) {
    return begin + other + " setp.lt.u32 %p1, %r2, " + std::to_string(rounds) +
           "; @%p1 bra again; st.global.f32 [%rd2], %f1; st.global.f32 [%rd2+1024], %f3;";
  };
  run_body(body("", 5000), {64});  // more than a warp may execute before the next one has its turn
  for (const char* const other :
       {"setp.eq.u32 %p2, %r2, 5; setp.gt.and.u32 %p2, %r1, 40, %p2; @%p2 bar.warp.sync 0xffffffff;",
        "setp.eq.u32 %p2, %r2, 5; @%p2 bar.sync 0;",
        "setp.eq.u32 %p2, %r2, 5; setp.eq.and.u32 %p2, %r1, 40, %p2; @%p2 trap;",
        "setp.eq.u32 %p2, %r2, 5; setp.eq.and.u32 %p2, %r1, 40, %p2; @%p2 st.global.u32 [%rd1+-4], 1;",
        "setp.eq.u32 %p2, %r2, 5; setp.gt.and.u32 %p2, %r1, 40, %p2; @%p2 ret; mov.u32 %r20, 0x1ff; "
        "setp.gt.u32 %p2, "
        "%r1, 31; @!%p2 mov.u32 %r20, -1; setp.lt.u32 %p2, %r2, 5; @%p2 mov.u32 %r20, -1;",
        "setp.eq.u32 %p2, %r1, 40; mov.u32 %r6, 0; @!%p2 bra end; round: add.u32 %r6, %r6, 1; fma.rn.f32 "
        "%f1, %f1, "
        "0f3F7F0000, %f2; setp.lt.u32 %p5, %r6, 500; @%p5 bra round; end:",
        "redux.sync.add.s32 %r8, %r5, %r20; match.any.sync.b32 %r9, %r8, %r20; xor.b32 %r8, %r8, %r9; "
        "and.b32 %r8, %r8, "
        "15; cvt.rn.f32.u32 %f5, %r8; add.f32 %f1, %f1, %f5;"}) {
    SCOPED_TRACE(other);
    run_body(body(other, 12), {96}, {2});
    for (const std::uint64_t limit : {20000, 21000, 23456}) run_body(body(other, 12), {96}, {2}, limit);
  }
}

TEST(CompiledKernels, Faults) {
  const auto fault_of = [](const std::string& body, std::uint64_t limit = 100'000'000) {
    return run_body("mul.wide.u32 %rd2, %r1, 4; add.u64 %rd2, %rd2, %rd1;\n" + body, {96}, {3}, limit)
        .outcome;
  };
  EXPECT_EQ(static_cast<int>(
                fault_of("mov.u32 %r2, %ctaid.x; mul.wide.u32 %rd3, %r2, 8000; add.u64 %rd2, %rd2, %rd3;\n"
                         "ld.global.u32 %r3, [%rd2]; st.global.u32 [%rd2], 1; ld.global.u32 %r4, [%rd2+700];")
                    .fault),
            static_cast<int>(Fault::illegal_address));
  EXPECT_EQ(
      static_cast<int>(
          fault_of("add.u64 %rd2, %rd2, 2; setp.gt.u32 %p1, %r1, 40; @%p1 st.global.u32 [%rd2], 1;").fault),
      static_cast<int>(Fault::misaligned_address));
  EXPECT_EQ(static_cast<int>(fault_of("setp.eq.u32 %p1, %r1, 77; @%p1 trap;").fault),
            static_cast<int>(Fault::trap));
  EXPECT_EQ(
      static_cast<int>(
          fault_of(".shared .b32 s[64]; mov.u32 %r2, s; mad.lo.u32 %r2, %r1, 4, %r2; st.shared.u32 [%r2], 1;")
              .fault),
      static_cast<int>(Fault::trap));
  EXPECT_EQ(static_cast<int>(fault_of("setp.eq.u32 %p1, %r1, 5; @%p1 bra end; bar.sync 0, 96; end:").fault),
            static_cast<int>(Fault::none));
  EXPECT_EQ(
      static_cast<int>(
          fault_of("setp.lt.u32 %p1, %r1, 40; @%p1 bra other; bar.sync 0; ret; other: bar.sync 1;").fault),
      static_cast<int>(Fault::barrier));
  // The limit is exact wherever it falls.
  for (const std::uint64_t limit : {1, 3, 100, 1023, 1024, 1025, 5000, 70001}) {
    const Outcome outcome = fault_of("mov.u32 %r2, 0; again: add.u32 %r2, %r2, 1; bra again;", limit);
    EXPECT_EQ(static_cast<int>(outcome.fault), static_cast<int>(Fault::timeout));
    EXPECT_EQ(outcome.instructions, limit);
  }
}

TEST(CompiledKernels, UnknownInstructionsAreLeftToTheInterpreter) {
  const std::string wmma = "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%f1, %f2}, {%r1}, {%r2}, {%f1};";
  const Ran stops = run_body("setp.eq.u32 %p1, %r1, 3; @%p1 " + wmma, {8});
  EXPECT_EQ(static_cast<int>(stops.outcome.fault), static_cast<int>(Fault::unsupported));
  expect_no_fault(run_body("setp.eq.u32 %p1, %r1, 300; @%p1 " + wmma, {8}).outcome);
  // No translator knows these, but the interpreter does.
  expect_no_fault(run_body(R"(mul.wide.u32 %rd2, %r1, 4; add.u64 %rd2, %rd2, %rd1; ld.global.u32 %r2, [%rd2];
    dp4a.u32.s32 %r3, %r2, %r2, %r1; fns.b32 %r4, %r3, 1, 2; atom.global.add.u32 %r5, [%rd2], %r4; bfind.u32 %r6, %r5;
    add.u32 %r6, %r6, %r3; st.global.u32 [%rd2+1024], %r6;)",
                           {64})
                      .outcome);
}

}  // namespace compiled_test
}  // namespace opgate::simulator::tests
