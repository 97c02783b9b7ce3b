// Barriers of blocks, and blocks that wait for each other.
#include <cstring>
#include <numeric>

#include "fake_device.h"

namespace opgate::simulator::tests {
namespace barrier_test {

const std::string kStore = R"(
    mov.u32 %r39, %tid.x; mul.wide.u32 %rd39, %r39, 4; add.u64 %rd39, %rd39, %rd1; st.global.u32 [%rd39], %r0;)";

TEST(SimulatedBarriers, SumInSharedMemory) {
  const std::string ptx = kernel_of(R"(
    .shared .align 4 .b8 s[1024];
    mov.u32 %r2, s; mad.lo.u32 %r3, %r1, 4, %r2; st.shared.u32 [%r3], %r1; mov.u32 %r4, 128;
again: bar.sync 0; setp.ge.u32 %p1, %r1, %r4; @%p1 bra skip;
    mad.lo.u32 %r5, %r4, 4, %r3; ld.shared.u32 %r6, [%r5]; ld.shared.u32 %r7, [%r3]; add.u32 %r7, %r7, %r6; st.shared.u32 [%r3], %r7;
skip: shr.u32 %r4, %r4, 1; setp.ne.u32 %p2, %r4, 0; @%p2 bra again;
    barrier.sync.aligned 0; ld.shared.u32 %r0, [s];)" +
                                    kStore);
  EXPECT_EQ(values_of(ptx, 256, {256}, {3}), std::vector<std::uint32_t>(256, 255 * 128));
}

TEST(SimulatedBarriers, ExitedThreadsDoNotCount) {
  const std::string ptx = kernel_of(R"(
    .shared .u32 s; mov.u32 %r0, 1;
    setp.ge.u32 %p1, %r1, 40; @%p1 ret; setp.eq.u32 %p2, %r1, 5; @%p2 st.shared.u32 [s], 77; bar.sync 0; ld.shared.u32 %r0, [s];)" +
                                    kStore);
  const std::vector<std::uint32_t> values = values_of(ptx, 100, {100});
  EXPECT_EQ(values[0], 77u);
  EXPECT_EQ(values[39], 77u);
  EXPECT_EQ(values[40], 0u);
}

TEST(SimulatedBarriers, Reductions) {
  const std::string ptx = kernel_of(R"(
    rem.u32 %r2, %r1, 3; setp.eq.u32 %p1, %r2, 0; setp.lt.u32 %p2, %r1, 100;
    bar.red.popc.u32 %r3, 0, %p1; bar.red.and.pred %p3, 0, %p2; bar.red.or.pred %p4, 1, %p1; barrier.red.popc.aligned.u32 %r4, 2, 96, !%p1;
    selp.u32 %r5, 1000, 0, %p3; selp.u32 %r6, 10000, 0, %p4;
    add.u32 %r0, %r3, %r5; add.u32 %r0, %r0, %r6; mad.lo.u32 %r0, %r4, 100000, %r0;)" +
                                    kStore);
  EXPECT_EQ(values_of(ptx, 96, {96}), std::vector<std::uint32_t>(96, 32 + 1000 + 10000 + 6400000));
}

TEST(SimulatedBarriers, ProducersArriveAndConsumersWait) {
  // The first warp writes and goes on, the second one waits for it at barrier 3.
  const std::string ptx = kernel_of(R"(
    .shared .align 4 .b8 s[128]; mov.u32 %r2, s; and.b32 %r3, %r1, 31; mad.lo.u32 %r4, %r3, 4, %r2; mov.u32 %r0, 0;
    setp.lt.u32 %p1, %r1, 32; @!%p1 bra producer;
    bar.sync 3, 64; ld.shared.u32 %r0, [%r4]; bra.uni end;
producer: mul.lo.u32 %r5, %r3, 3; st.shared.u32 [%r4], %r5; bar.arrive 3, 64;
end:)" + kStore);
  const std::vector<std::uint32_t> values = values_of(ptx, 64, {64});
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(values[i], 3 * i);
}

TEST(SimulatedBarriers, PartOfAWarpCountsAsAWarp) {
  // 40 threads are two warps for a barrier of 64, as on the hardware.
  const std::string ptx = kernel_of("mov.u32 %r0, 4; bar.sync 1, 64;" + kStore);
  EXPECT_EQ(values_of(ptx, 40, {40}), std::vector<std::uint32_t>(40, 4));
}

TEST(SimulatedBarriers, BlocksWaitForEachOther) {
  // As grid.sync() of cooperative groups: every block adds one and waits until all have.
  const std::string ptx = kernel_of(R"(
    setp.ne.u32 %p1, %r1, 0; @%p1 bra wait; mov.u32 %r5, %nctaid.x; atom.global.add.u32 %r2, [%rd1], 1;
again: ld.acquire.gpu.global.u32 %r3, [%rd1]; setp.lt.u32 %p2, %r3, %r5; @%p2 bra again;
wait: bar.sync 0; @%p1 exit; atom.global.add.u32 %r4, [%rd1+4], %r3;)");
  FakeDevice device;
  const std::uint64_t memory = device.allocate(std::vector<std::uint32_t>(2));
  expect_no_fault(run(device, ptx, {20}, {64}, Arguments(memory)));
  EXPECT_EQ(device.read<std::uint32_t>(memory), (std::vector<std::uint32_t>{20, 400}));
}

TEST(SimulatedBarriers, WarpsWaitTogetherForTheBlockBefore) {
  // As the scans of CUB: a warp votes whether the block before has stored its sum, until it has. More blocks
  // than are resident.
  const std::string ptx = kernel_of(R"(
    mov.u32 %r2, %ctaid.x; setp.eq.u32 %p1, %r2, 0; mov.u32 %r3, 1; @%p1 bra store;
    mul.wide.u32 %rd2, %r2, 4; add.u64 %rd2, %rd1, %rd2;
again: ld.relaxed.gpu.global.u32 %r3, [%rd2+-4]; setp.eq.u32 %p2, %r3, 0; vote.sync.any.pred %p3, %p2, -1; @%p3 bra again;
    add.u32 %r3, %r3, 1;
store: mul.wide.u32 %rd3, %r2, 4; add.u64 %rd3, %rd1, %rd3; st.relaxed.gpu.global.u32 [%rd3], %r3;)");
  constexpr std::uint32_t kBlocks = 1000;
  for (const std::uint64_t seed : {0, 1, 2}) {
    FakeDevice device;
    const std::uint64_t memory = device.allocate(std::vector<std::uint32_t>(kBlocks));
    Launch launch = launch_of("k", {kBlocks}, {32}, Arguments(memory));
    launch.order_seed = seed;
    launch.most_resident = 16;
    expect_no_fault(Module::parse(ptx)->run(launch, device));
    std::vector<std::uint32_t> expected(kBlocks);
    std::iota(expected.begin(), expected.end(), 1u);
    EXPECT_EQ(device.read<std::uint32_t>(memory), expected);
  }
}

TEST(SimulatedBarriers, BlocksThatWaitForOnesThatCannotBegin) {
  // grid.sync() without a cooperative launch, with more blocks than the device holds.
  const std::string ptx = kernel_of(R"(mov.u32 %r5, %nctaid.x; atom.global.add.u32 %r2, [%rd1], 1;
again: ld.acquire.gpu.global.u32 %r3, [%rd1]; setp.lt.u32 %p2, %r3, %r5; @%p2 bra again;)");
  FakeDevice device;
  const std::uint64_t memory = device.allocate(std::vector<std::uint32_t>(1));
  Launch launch = launch_of("k", {20}, {1}, Arguments(memory));
  launch.instruction_limit = 10'000'000;
  launch.most_resident = 20;
  expect_no_fault(Module::parse(ptx)->run(launch, device));
  launch.most_resident = 16;
  const std::uint64_t again = device.allocate(std::vector<std::uint32_t>(1));
  std::memcpy(launch.parameters.data(), &again, sizeof(again));
  const Outcome outcome = Module::parse(ptx)->run(launch, device);
  EXPECT_EQ(outcome.fault, Fault::timeout);
  EXPECT_EQ(
      outcome.message,
      "the limit of 10000000 instructions is reached; 4 blocks have not begun, because the device holds 16 "
      "of them at once, and none of those has ended");
}

TEST(SimulatedBarriers, ThreadsOfAWarpWaitForEachOther) {
  // Thread 0 spins on a flag that thread 5 sets: threads are scheduled independently.
  const std::string ptx = kernel_of(R"(
    setp.eq.u32 %p1, %r1, 5; @%p1 st.volatile.global.u32 [%rd1], 1; setp.ne.u32 %p2, %r1, 0; @%p2 exit;
again: ld.volatile.global.u32 %r3, [%rd1]; setp.eq.u32 %p3, %r3, 0; @%p3 bra again; st.global.u32 [%rd1], 2;)");
  EXPECT_EQ(values_of(ptx, 1, {32}), std::vector<std::uint32_t>{2});
}

}  // namespace barrier_test
}  // namespace opgate::simulator::tests
