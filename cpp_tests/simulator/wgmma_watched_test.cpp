// What the tools find in kernels that use `wgmma`: each mistake is planted by leaving one instruction out or
// moving it.
#include "watched.h"
#include "wgmma_kernel.h"

namespace opgate::simulator::tests {
namespace wgmma_watched_test {

constexpr Tools kAllTools{.init = true, .race = true, .sync = true};

// Rows of 16 bytes without swizzling: `a` is 64 by 16 from the begin on, `b` is 8 columns of 16 behind 16384
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

TEST(SimulatedWarpgroupMistakes, NoFenceOfRegisters) {
  expect_sync(found_in(kMultiply + kCommit + kWait), "without a wgmma.fence before it");
  expect_sync(found_in(kFence + kMultiply + kCommit + kWait + kUse + kMultiply + kCommit + kWait),
              "uses a register that the thread has used since the last wgmma.fence");
}

TEST(SimulatedWarpgroupMistakes, NoFenceOfTheAsyncProxy) {
  const std::string right = kFence + kMultiply + kCommit + kWait;
  expect_finding(found_in(right, ""), Finding::Kind::race,
                 "reads by the async proxy what st.shared.u32 of thread");
  expect_finding(found_in(right, "fence.proxy.async.global;\n"), Finding::Kind::race, "no fence.proxy.async");
  // Behind the barrier, in the threads that read, it is as good.
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
  FakeDevice device;
  std::string ptx = wgmma_kernel(4, 0, kFence + kMultiply + kCommit + kWait);
  const std::string store = "st.shared.u32 [%r2], %r5;";
  ptx.erase(ptx.find(store), store.size());
  const std::uint64_t in = device.allocate(std::vector<std::uint32_t>(kSharedBytes / 4 + 512));
  const std::uint64_t out = device.allocate(std::vector<std::uint32_t>(128 * kMostSums));
  expect_finding(findings_of_launch(device, ptx, launch_of("k", {}, {128}, Arguments(in, out)), kAllTools, 0),
                 Finding::Kind::init,
                 "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 reads 16 bytes of shared");
}

}  // namespace wgmma_watched_test
}  // namespace opgate::simulator::tests
