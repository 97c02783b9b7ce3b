// What the tools find in kernels that use `wgmma`: each mistake is planted by leaving one instruction out or
// moving it.
#include "watched.h"
#include "wgmma_kernel.h"

namespace opgate::simulator::tests {
namespace wgmma_watched_test {

constexpr Tools kAllTools{.init = true, .race = true, .sync = true};

// Rows of 16 bytes without swizzling: `a` is 64 by 16 from the start on, `b` is 8 columns of 16 after 16384
// bytes.
const std::string kMultiply =
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d0, %d1, %d2, %d3}, 34363932672, 34363933696, %p1, "
    "1, 1, 0, "
    "0;\n";
const std::string kFence = "wgmma.fence.sync.aligned;\n";
const std::string kCommit = "wgmma.commit_group.sync.aligned;\n";
const std::string kWait = "wgmma.wait_group.sync.aligned 0;\n";
const std::string kUse = "add.f32 %d0, %d0, %d0;\n";
const std::string kOverwrite = "mov.u32 %r9, matrices; add.u32 %r9, %r9, %r3; st.shared.u32 [%r9], %r3;\n";

std::vector<Finding> found_in(const std::string& body, const std::string& fence = "fence.proxy.async;\n") {
  std::vector<Finding> findings;
  for (const std::uint64_t seed : {0, 1, 2}) {
    FakeDevice device;
    const std::uint64_t in = device.allocate(std::vector<std::uint32_t>(kSharedBytes / 4 + 512));
    const std::uint64_t out = device.allocate(std::vector<std::uint32_t>(128 * kMostSums));
    const Launch launch = launch_of("k", {}, {128}, Arguments(in, out));
    std::vector<Finding> found =
        findings_of_launch(device, wgmma_kernel(4, 0, body, fence), launch, kAllTools, seed);
    EXPECT_TRUE(seed == 0 || found.empty() == findings.empty()) << "the seeds disagree";
    findings = std::move(found);
  }
  return findings;
}

void expect_sync(const std::vector<Finding>& findings, const std::string& words) {
  expect_finding(findings, Finding::Kind::sync, words);
}

TEST(SimulatedWarpgroupMistakes, RightKernels) {
  expect_nothing(found_in(kFence + kMultiply + kCommit + kWait));
  expect_nothing(found_in(kFence + kMultiply + kMultiply + kCommit + kWait + kUse));
  expect_nothing(
      found_in(kFence + kMultiply + kCommit + kWait + kUse + kFence + kMultiply + kCommit + kWait));
  expect_nothing(found_in(kFence + kMultiply + kCommit + kMultiply + kCommit +
                          "wgmma.wait_group.sync.aligned 1;\n" + kWait));
  expect_nothing(found_in(kFence + kMultiply + kCommit + kWait + "bar.sync 0;\n" + kOverwrite));
}

TEST(SimulatedWarpgroupMistakes, SumsThatNobodyWaitsFor) {
  const std::string words = "uses a register of a wgmma.mma_async, and no wgmma.wait_group has waited";
  expect_sync(found_in(kFence + kMultiply + kCommit), "st.global.u32 " + words);
  expect_sync(found_in(kFence + kMultiply + kCommit + kUse + kWait), "add.f32 " + words);
  expect_sync(found_in(kFence + kMultiply + kCommit + "wgmma.wait_group.sync.aligned 1;\n"), words);
  expect_sync(found_in(kFence + kMultiply + kWait), words);  // which is in no group
}

// ptxas takes such a move for what it is, and Triton relies on it.
TEST(SimulatedWarpgroupMistakes, MovesOfSumsBeforeTheWait) {
  const std::string begun = kFence + kMultiply + kCommit;
  const std::string use = "add.u32 %r10, %r9, 1;\n";
  const auto expect_right_and_wrong = [&](const std::string& moves, const std::string& use_of_copy) {
    expect_nothing(found_in(begun + moves + kWait + use_of_copy));
    expect_sync(found_in(begun + moves + use_of_copy + kWait),
                " uses a copy of a register of a wgmma.mma_async, and no wgmma.wait_group has waited");
  };
  expect_right_and_wrong("mov.b32 %r9, %d0;\n", use);
  expect_right_and_wrong(".reg .f32 %f; mov.f32 %f, %d0;\n", "add.f32 %f, %f, %f;\n");
  expect_right_and_wrong("mov.b32 %r8, %d0; mov.b32 %r9, %r8;\n", use);
  expect_right_and_wrong("mov.b64 %rd9, {%d0, %r3};\n", "add.u64 %rd9, %rd9, 1;\n");
  expect_right_and_wrong(".reg .b16 %h<2>; mov.b32 {%h0, %h1}, %d0;\n", "cvt.f32.f16 %r9, %h1;\n");
  expect_right_and_wrong("mov.b32 %r9, %d0;\n", "mov.b32 %r9, 0;\n");  // which is written
  expect_right_and_wrong(".reg .b16 %h; cvt.u16.u32 %h, %d0;\n", "cvt.f32.f16 %r9, %h;\n");
  expect_right_and_wrong("mov.b32 %r9, %d0;\n", "wgmma.wait_group.sync.aligned 1;\n" + use);
  expect_nothing(found_in(
      begun + ".reg .b16 %h<2>; mov.b32 {_, %h0}, %d0; mov.b32 {%h1, _}, %r3; mov.b32 {_, %h1}, %r3;\n" +
      kWait));
}

TEST(SimulatedWarpgroupMistakes, MovesOfSumsOfSeveralGroups) {
  const std::string moved = kFence + kMultiply + kCommit + "mov.b32 %r9, %d0;\n";
  const std::string both =
      moved + kFence + kMultiply + kCommit + "mov.b32 %r10, %d0;\n" + "wgmma.wait_group.sync.aligned 1;\n";
  expect_nothing(found_in(both + "add.u32 %r9, %r9, 1;\n" + kWait));
  expect_sync(found_in(both + "add.u32 %r10, %r10, 1;\n" + kWait), "add.u32 uses a copy of a register");
}

TEST(SimulatedWarpgroupMistakes, MovesBeforeTheWaitThatAreWrong) {
  const std::string begun = kFence + kMultiply + kCommit;
  expect_sync(found_in(begun + "mov.b32 %d0, %r3;\n" + kWait),
              "mov.b32 uses a register of a wgmma.mma_async");
  expect_sync(found_in(begun + "mov.b32 %r9, %d0; mov.b32 %d0, %r9;\n" + kWait),
              "mov.b32 uses a register of a wgmma.mma_async");
  // The second product has the copy as its sum.
  std::string other = kMultiply;
  other.replace(other.find("%d0"), 3, "%r9");
  expect_sync(found_in(begun + "mov.b32 %r9, %d0;\n" + kFence + other + kCommit + kWait),
              "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 uses a copy of a register");
  // Nothing has waited for the product in the end.
  expect_sync(found_in(begun + "mov.b32 %r9, %d0; st.global.u32 [%rd2], %r9;\n"),
              "st.global.u32 uses a copy of a register");
}

TEST(SimulatedWarpgroupMistakes, NoFenceOfRegisters) {
  expect_sync(found_in(kMultiply + kCommit + kWait), "without a wgmma.fence before it");
  expect_sync(found_in(kFence + kMultiply + kCommit + kWait + kUse + kMultiply + kCommit + kWait),
              "uses a register that the thread has used since the last wgmma.fence");
}

// ptxas makes a register and its copy one, so that LLVM places moves where it likes: for sums that begin with
// a vector, and for halves of matrices in registers.
TEST(SimulatedWarpgroupMistakes, MovesAfterTheFence) {
  const std::string end = kMultiply + kCommit + kWait;
  const std::string words = "uses a register that the thread has used since the last wgmma.fence";
  for (const std::string move :
       {"mov.b32 %d0, %r3;\n", "mov.f32 %d1, %d0;\n", "mov.u32 %d0, 0;\n",
        "mov.b32 %r9, %r3; mov.b32 %d0, %r9;\n", "mov.b64 %rd9, {%r3, %d2}; mov.b64 {%d0, %d1}, %rd9;\n",
        "cvt.u32.u64 %d0, %rd1;\n", ".reg .b16 %h<2>; mov.b32 {%h0, %h1}, %r3; mov.b32 %d3, {%h1, %h0};\n",
        "add.u32 %r9, %r3, 1; mov.b32 %d0, %r3;\n"}) {
    SCOPED_TRACE(move);
    expect_nothing(found_in(kFence + move + end));
    expect_nothing(found_in("add.f32 %d0, %d0, %d0; add.u32 %r3, %r3, 4;\n" + kFence + move + end));
    expect_sync(found_in(kFence + move + "add.f32 %d0, %d0, %d0;\n" + end), words);
  }
  expect_sync(found_in(kFence + "add.u32 %r9, %r3, 1; mov.b32 %d0, %r9;\n" + end), words);
  expect_sync(found_in(kFence +
                       "add.u32 %r9, %r3, 1; mov.b32 %r8, %r9; mov.b64 %rd9, {%r3, %r8}; mov.b64 {%d2, "
                       "%d3}, %rd9;\n" +
                       end),
              words);
  expect_sync(found_in(kFence + "@%p1 mov.b32 %d0, %r3;\n" + end), words);
  expect_sync(found_in(kFence + "ld.global.u32 %d0, [%rd1];\n" + end), words);
  expect_sync(found_in(kFence + "cvt.rn.f32.u32 %d0, %r3;\n" + end), words);
}

TEST(SimulatedWarpgroupMistakes, NoFenceOfTheAsyncProxy) {
  const std::string right = kFence + kMultiply + kCommit + kWait;
  expect_finding(found_in(right, ""), Finding::Kind::race,
                 "reads by the async proxy what st.shared.u32 of thread");
  expect_finding(found_in(right, "fence.proxy.async.global;\n"), Finding::Kind::race, "no fence.proxy.async");
  // After the barrier, in the threads that read, it is as good.
  expect_nothing(found_in("fence.proxy.async.shared::cta;\n" + right, ""));
  // Before the stores it is not.
  expect_finding(found_in(kOverwrite + "bar.sync 0;\n" + right), Finding::Kind::race, "no fence.proxy.async");
}

TEST(SimulatedWarpgroupMistakes, MatricesThatAreOverwritten) {
  const std::string begun = kFence + kMultiply + kCommit;
  expect_finding(found_in(begun + "bar.sync 0;\n" + kOverwrite + "bar.sync 0;\n" + kWait),
                 Finding::Kind::race, "a product may read its matrices at any time");
  expect_finding(found_in(begun + kWait + kOverwrite), Finding::Kind::race,
                 "st.shared.u32 races with wgmma.mma_async");
}

TEST(SimulatedWarpgroupMistakes, MatricesThatNobodyHasWritten) {
  const std::string begun = kFence + kMultiply + kCommit;
  for (const std::string& body :
       {begun + kWait, begun + "mov.b32 %r9, %d0;\n" + kWait + "mov.b32 %d0, 0; mov.b32 %d0, %r9;\n"}) {
    FakeDevice device;
    std::string ptx = wgmma_kernel(1, 0x40000000, body);
    const std::string store = "st.shared.u32 [%r2], %r5;";
    ptx.erase(ptx.find(store), store.size());
    const std::uint64_t in = device.allocate(std::vector<std::uint32_t>(kSharedBytes / 4 + 512));
    const std::uint64_t out = device.allocate(std::vector<std::uint32_t>(128 * kMostSums));
    Launch launch = launch_of("k", {}, {128}, Arguments(in, out));
    launch.fill = 0x3c;
    expect_finding(findings_of_launch(device, ptx, launch, kAllTools, 0), Finding::Kind::init,
                   "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 reads 16 bytes of shared");
    // The products of halves that are 1.05859375, in which single precision is exact.
    EXPECT_EQ(std::bit_cast<float>(device.read<std::uint32_t>(out)[0]), 2 + 16 * 1.05859375F * 1.05859375F);
  }
}

}  // namespace wgmma_watched_test
}  // namespace opgate::simulator::tests
