// ldmatrix, stmatrix and movmatrix, against the tables of the manual.
#include "both_ways.h"

namespace opgate::simulator::tests {
namespace matrix_move_test {

// The memory begins with what the threads find in the first four registers %r10 to %r13: thread t at word 4
// t. 512 bytes of shared memory at %r2 hold the numbers 0, 1, 2 ... of 16 bits; they are stored at word 128
// in the end.
std::string kernel(const std::string& body) {
  return kernel_of(R"(.shared .align 16 .b8 s[512];
    mov.u32 %r2, s; shl.b32 %r3, %r1, 4; add.u32 %r3, %r3, %r2;
    shl.b32 %r4, %r1, 3; mov.u32 %r5, 0;
    fill: shl.b32 %r6, %r5, 2; add.u32 %r6, %r6, %r3; shl.b32 %r7, %r5, 1; add.u32 %r7, %r7, %r4;
    add.u32 %r8, %r7, 1; shl.b32 %r8, %r8, 16; or.b32 %r8, %r8, %r7; st.shared.u32 [%r6], %r8;
    add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 4; @%p1 bra fill;
    bar.sync 0;
    mov.u32 %r10, -1; mov.u32 %r11, -1; mov.u32 %r12, -1; mov.u32 %r13, -1;
)" + body + R"(
    bar.sync 0;
    mul.wide.u32 %rd2, %r1, 16; add.u64 %rd2, %rd2, %rd1;
    st.global.v4.u32 [%rd2], {%r10, %r11, %r12, %r13};
    ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [%r3]; st.global.v4.u32 [%rd2+512], {%r10, %r11, %r12, %r13};)");
}

struct Result {
  std::vector<std::vector<std::uint32_t>> registers;  // of each lane, the four
  std::vector<std::uint16_t> shared;
};

Ran run_kernel(const std::string& body, unsigned threads = 32) {
  return run_both_ways(kernel(body), [&](FakeDevice& device, std::vector<std::uint64_t>& results) {
    results.push_back(device.allocate(std::vector<std::uint32_t>(256)));
    return launch_of("k", {}, {threads}, Arguments(results.front()));
  });
}

Result result_of(const std::string& body) {
  const Ran ran = run_kernel(body);
  expect_no_fault(ran.outcome);
  std::vector<std::uint32_t> words(256);
  std::memcpy(words.data(), ran.memory.front().data(), 1024);
  Result result;
  for (std::size_t lane = 0; lane < 32; ++lane) {
    const auto begin = words.begin() + static_cast<std::ptrdiff_t>(4 * lane);
    result.registers.emplace_back(begin, begin + 4);
  }
  result.shared.resize(256);
  std::memcpy(result.shared.data(), words.data() + 128, 512);
  return result;
}

std::uint32_t pair(unsigned low, unsigned high) { return low | high << 16; }

// Row r of matrix m begins at number 64 m + 8 r.
std::uint32_t plain(unsigned lane, unsigned matrix) {
  const unsigned row = lane >> 2;
  const unsigned column = 2 * (lane & 3);
  return pair(64 * matrix + 8 * row + column, 64 * matrix + 8 * row + column + 1);
}

std::uint32_t transposed(unsigned lane, unsigned matrix) {
  const unsigned column = lane >> 2;
  const unsigned row = 2 * (lane & 3);
  return pair(64 * matrix + 8 * row + column, 64 * matrix + 8 * (row + 1) + column);
}

TEST(SimulatedMatrixMoves, Load) {
  // The rows of the address that lane t gives: 16 t, so that the matrices follow each other.
  const Result four = result_of("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10, %r11, %r12, %r13}, [%r3];");
  const Result two = result_of("ldmatrix.sync.aligned.m8n8.x2.shared::cta.b16 {%r10, %r11}, [%r3];");
  const Result turned =
      result_of("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r10, %r11, %r12, %r13}, [%r3];");
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i = 0; i < 4; ++i) {
      EXPECT_EQ(four.registers[lane][i], plain(lane, i));
      EXPECT_EQ(two.registers[lane][i], i < 2 ? plain(lane, i) : ~0u);
      EXPECT_EQ(turned.registers[lane][i], transposed(lane, i));
    }
  }
}

TEST(SimulatedMatrixMoves, LoadAsksOnlyTheLanesOfItsMatrices) {
  // Addresses of the other lanes are not looked at. Rows in another order, by a generic address with an
  // offset.
  const Result result = result_of(R"(sub.u32 %r4, 7, %r1; shl.b32 %r4, %r4, 4; add.u32 %r4, %r4, %r2;
    setp.lt.u32 %p1, %r1, 8; selp.u32 %r4, %r4, 0xfffffff0, %p1;
    cvt.u64.u32 %rd3, %r4; cvta.shared.u64 %rd3, %rd3;
    ldmatrix.sync.aligned.m8n8.x1.b16 {%r10}, [%rd3+128];)");
  for (unsigned lane = 0; lane < 32; ++lane) {
    const unsigned row = 7 - lane / 4;
    EXPECT_EQ(result.registers[lane][0], pair(64 + 8 * row + lane % 4 * 2, 64 + 8 * row + lane % 4 * 2 + 1));
  }
}

TEST(SimulatedMatrixMoves, Store) {
  const std::string values =
      "shl.b32 %r20, %r1, 1; add.u32 %r21, %r20, 1; shl.b32 %r21, %r21, 16; or.b32 %r20, %r20, %r21; "
      "add.u32 %r21, %r20, 0x10001000;";
  const auto is = [](const Result& result, bool turned, unsigned matrices) {
    for (unsigned i = 0; i < 256; ++i) {
      unsigned row = i % 64 / 8;
      unsigned column = i % 8;
      if (turned) std::swap(row, column);
      const unsigned stored = 0x1000 * (i / 64) + 2 * (row * 4 + column / 2) + column % 2;
      EXPECT_EQ(result.shared[i], i / 64 < matrices ? stored : i) << i;
    }
  };
  is(result_of(values + "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r3], {%r20};"), false, 1);
  is(result_of(values + "stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r3], {%r20, %r21};"), false, 2);
  is(result_of(values + "stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%r3], {%r20, %r21};"), true, 2);
}

TEST(SimulatedMatrixMoves, Transpose) {
  const Result result = result_of(
      "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r10}, [%r3]; movmatrix.sync.aligned.m8n8.trans.b16 %r10, "
      "%r10;");
  for (unsigned lane = 0; lane < 32; ++lane) EXPECT_EQ(result.registers[lane][0], transposed(lane, 0));
}

void expect_fault(const Outcome& outcome, Fault fault, const std::string& words, unsigned thread) {
  EXPECT_EQ(static_cast<int>(outcome.fault), static_cast<int>(fault)) << outcome.message;
  EXPECT_NE(outcome.message.find(words), std::string::npos) << outcome.message;
  EXPECT_EQ(outcome.thread_index.x, thread);
}

// A warp that executes one instruction as a whole goes on with the next at once, also if its turn ends, or if
// the limit of the launch is near.
TEST(SimulatedMatrixMoves, OneBehindTheOther) {
  const std::string once = "movmatrix.sync.aligned.m8n8.trans.b16 %r10, %r10;\n";
  const std::string begin = "mov.u32 %r10, %r8;\n";
  std::string often = begin;
  for (int i = 0; i < 141; ++i) often += once;
  EXPECT_EQ(result_of(often).registers, result_of(begin + once).registers);
  const std::uint64_t all = run_kernel(often).outcome.instructions;
  EXPECT_EQ(all - run_kernel(begin + once).outcome.instructions, 140u * 32);
  for (const std::uint64_t limit : {all, all - 1, all - 20 * 32, all - 100 * 32 - 7}) {
    const Ran ran =
        run_both_ways(kernel(often), [&](FakeDevice& device, std::vector<std::uint64_t>& results) {
          results.push_back(device.allocate(std::vector<std::uint32_t>(256)));
          Launch launch = launch_of("k", {}, {32}, Arguments(results.front()));
          launch.instruction_limit = limit;
          return launch;
        });
    EXPECT_EQ(ran.outcome.instructions, limit);
    EXPECT_EQ(ran.outcome.fault == Fault::timeout, limit < all);
  }
}

TEST(SimulatedMatrixMoves, AMistakeBehindOthersIsCountedAndNamed) {
  const std::string load = "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r10}, ";
  const auto outcome_of = [&](const std::string& last) {
    return run_kernel("and.b32 %r4, %r3, 0xfffffff0;\n" + load + "[%r4];\n" + load + "[%r4];\n" + load + last)
        .outcome;
  };
  const Outcome right = outcome_of("[%r4];");
  const Outcome wrong = outcome_of("[%r4+8];");
  EXPECT_EQ(wrong.fault, Fault::misaligned_address);
  // After the loads are the barrier, two instructions for the address, two stores, a load and the end.
  EXPECT_EQ(right.instructions - wrong.instructions, 7u * 32);
}

TEST(SimulatedMatrixMoves, Mistakes) {
  expect_fault(run_kernel("setp.eq.u32 %p1, %r1, 5; selp.u32 %r4, 8, 0, %p1; add.u32 %r3, %r3, %r4; "
                          "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r10}, [%r3];")
                   .outcome,
               Fault::misaligned_address,
               "ldmatrix.sync.aligned.m8n8.x1.shared.b16 of 16 bytes at 0x58, which is not a multiple of 16",
               5);
  expect_fault(
      run_kernel("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r3+16], {%r10, %r11, %r12, %r13};").outcome,
      Fault::trap, "of the shared memory, of which there are 512 bytes", 31);
  expect_fault(run_kernel("movmatrix.sync.aligned.m8n8.trans.b16 %r10, %r10;", 20).outcome, Fault::trap,
               "by 20 of the 32 threads of a warp", 0);
  expect_fault(run_kernel("setp.lt.u32 %p1, %r1, 9; @%p1 movmatrix.sync.aligned.m8n8.trans.b16 %r10, %r10;\n"
                          "@!%p1 movmatrix.sync.aligned.m8n8.trans.b16 %r10, %r10;")
                   .outcome,
               Fault::trap, "by threads of a warp that are at lines", 0);
}

}  // namespace matrix_move_test
}  // namespace opgate::simulator::tests
