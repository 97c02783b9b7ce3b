// Shuffles, votes, matches and reductions of warps.
#include <algorithm>
#include <bit>

#include "both_ways.h"

namespace opgate::simulator::tests {
namespace warp_test {

// Each thread runs the body, which leaves its result in %r0. %r1 is the index of the thread.
std::vector<std::uint32_t> results(const std::string& body, unsigned threads = 32) {
  return values_of(kernel_of(body + R"(
    mov.u32 %r39, %tid.x; mul.wide.u32 %rd39, %r39, 4; add.u64 %rd39, %rd39, %rd1; st.global.u32 [%rd39], %r0;)"),
                   threads, {threads});
}

// By the pseudo code of the manual, with the lane's own value where the source is outside.
std::uint32_t shuffled(const std::string& mode, std::uint32_t lane, std::uint32_t b, std::uint32_t c,
                       std::uint32_t (*value)(std::uint32_t)) {
  const auto segment = static_cast<int>(c >> 8 & 31);
  const auto clamp = static_cast<int>(c & 31);
  const int self = static_cast<int>(lane);
  const int by = static_cast<int>(b & 31);
  const int most = (self & segment) | (clamp & ~segment);
  const int least = self & segment;
  int from = 0;
  bool inside = false;
  if (mode == "up") {
    from = self - by;
    inside = from >= most;
  } else if (mode == "down") {
    from = self + by;
    inside = from <= most;
  } else if (mode == "bfly") {
    from = self ^ by;
    inside = from <= most;
  } else {
    from = least | (by & ~segment);
    inside = from <= most;
  }
  return value(static_cast<std::uint32_t>(inside ? from : self)) * 2 + (inside ? 1 : 0);
}

// After a shuffle, all lanes of a warp execute instructions side by side: with guards that hold for some of
// them, in a loop of many steps, up to a branch that some of them take, and up to the limit of the launch.
TEST(SimulatedWarps, ComputeBehindAShuffle) {
  const std::string body = R"(
    mov.u32 %r0, 0; mov.u32 %r3, 0; and.b32 %r4, %r1, 1; shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;
    again: add.u32 %r0, %r0, %r2; setp.eq.u32 %p1, %r4, 0;
    @%p1 add.u32 %r0, %r0, 1000; @!%p1 add.u32 %r0, %r0, 7;
    add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, 20; @%p2 bra again;
    shfl.sync.bfly.b32 %r0, %r0, 1, 31, -1;
    setp.lt.u32 %p1, %r1, 5; @%p1 bra few; add.u32 %r0, %r0, 1; bra behind;
    few: add.u32 %r0, %r0, 2;
    behind: shfl.sync.bfly.b32 %r0, %r0, 2, 31, -1;)";
  const std::vector<std::uint32_t> values = results(body);
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    const std::uint32_t from = lane ^ 2;
    EXPECT_EQ(values[lane], 20 * (from + (from % 2 == 1 ? 1000 : 7)) + (from < 5 ? 2 : 1)) << lane;
  }
  const std::string kernel = kernel_of(body);
  const auto run_with_limit = [&](std::uint64_t limit) {
    return run_both_ways(kernel,
                         [&](FakeDevice& device, std::vector<std::uint64_t>& memory) {
                           memory.push_back(device.allocate(std::vector<std::uint32_t>(32)));
                           Launch launch = launch_of("k", {}, {32}, Arguments(memory.front()));
                           launch.instruction_limit = limit;
                           return launch;
                         })
        .outcome;
  };
  const std::uint64_t all = run_with_limit(0).instructions;
  for (const std::uint64_t limit : {all, all - 1, all - 20 * 32, all - 100 * 32 - 7}) {
    const Outcome outcome = run_with_limit(limit);
    EXPECT_EQ(outcome.instructions, limit);
    EXPECT_EQ(outcome.fault == Fault::timeout, limit < all);
  }
}

TEST(SimulatedWarps, Shuffles) {
  for (const std::string mode : {"up", "down", "bfly", "idx"}) {
    for (const unsigned width : {32u, 16u, 8u, 4u}) {
      for (const unsigned by : {0u, 1u, 3u, 5u, 17u, 31u, 33u}) {
        const unsigned c = (32 - width) << 8 | (mode == "up" ? 0 : 31);
        const std::vector<std::uint32_t> values =
            results("mul.lo.u32 %r2, %r1, %r1; add.u32 %r2, %r2, 7; shfl.sync." + mode +
                    ".b32 %r3|%p1, %r2, " + std::to_string(by) + ", " + std::to_string(c) +
                    ", -1; selp.u32 %r4, 1, 0, %p1; mad.lo.u32 %r0, %r3, 2, %r4;");
        for (std::uint32_t lane = 0; lane < 32; ++lane)
          EXPECT_EQ(values[lane], shuffled(mode, lane, by, c, [](std::uint32_t i) { return i * i + 7; }))
              << mode << width << " by " << by << " of " << lane;
      }
    }
  }
}

TEST(SimulatedWarps, ShuffleByAnotherLaneOfEachThread) {
  const std::vector<std::uint32_t> values =
      results("sub.u32 %r2, 31, %r1; shfl.sync.idx.b32 %r0, %r1, %r2, 31, 0xffffffff;");
  for (std::uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(values[lane], 31 - lane);
}

TEST(SimulatedWarps, ALaneThatIsNotThereHasNoValue) {
  const std::vector<std::uint32_t> values = results("shfl.sync.down.b32 %r0, %r1, 4, 31, -1;", 10);
  EXPECT_EQ(values,
            (std::vector<std::uint32_t>{4, 5, 6, 7, 8, 9, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}));
}

TEST(SimulatedWarps, Votes) {
  const std::string odd = "and.b32 %r2, %r1, 1; setp.ne.u32 %p1, %r2, 0; ";
  EXPECT_EQ(results(odd + "vote.sync.ballot.b32 %r0, %p1, -1;"), std::vector<std::uint32_t>(32, 0xaaaaaaaa));
  EXPECT_EQ(results(odd + "vote.sync.ballot.b32 %r0, !%p1, -1;"), std::vector<std::uint32_t>(32, 0x55555555));
  EXPECT_EQ(results(odd + "vote.sync.any.pred %p2, %p1, -1; selp.u32 %r0, 1, 0, %p2;"),
            std::vector<std::uint32_t>(32, 1));
  EXPECT_EQ(results(odd + "vote.sync.all.pred %p2, %p1, -1; selp.u32 %r0, 1, 0, %p2;"),
            std::vector<std::uint32_t>(32, 0));
  EXPECT_EQ(results(odd + "vote.sync.uni.pred %p2, %p1, -1; selp.u32 %r0, 1, 0, %p2;"),
            std::vector<std::uint32_t>(32, 0));
  // Threads that vote for the lanes of their own half.
  const std::vector<std::uint32_t> halves =
      results(odd + R"(setp.lt.u32 %p3, %r1, 16; selp.b32 %r3, 0xffff, 0xffff0000, %p3;
    vote.sync.ballot.b32 %r0, %p1, %r3;)");
  EXPECT_EQ(halves[3], 0xaaaau);
  EXPECT_EQ(halves[20], 0xaaaa0000u);
}

// PTX for devices before sm_70 names no lanes: those take part that come to the instruction together.
TEST(SimulatedWarps, WithoutAMask) {
  EXPECT_EQ(results("setp.gt.u32 %p1, %r1, 29; vote.ballot.b32 %r0, %p1;"),
            std::vector<std::uint32_t>(32, 0xc0000000));
  EXPECT_EQ(results("setp.lt.u32 %p1, %r1, 32; vote.all.pred %p2, %p1; selp.u32 %r0, 1, 0, %p2;"),
            std::vector<std::uint32_t>(32, 1));
  const std::vector<std::uint32_t> values = results(
      "mov.u32 %r0, 77; setp.ge.u32 %p1, %r1, 8; @%p1 bra end; shfl.down.b32 %r0|%p2, %r1, 1, 31;\n"
      "shfl.bfly.b32 %r0, %r0, 4, 31;\nend:");
  const std::uint32_t fill = 0xffffffff;
  EXPECT_EQ(std::vector<std::uint32_t>(values.begin(), values.begin() + 9),
            (std::vector<std::uint32_t>{5, 6, 7, fill, 1, 2, 3, 4, 77}));
}

TEST(SimulatedWarps, ExitedThreadsDoNotCount) {
  const std::vector<std::uint32_t> values = results(
      "setp.ge.u32 %p1, %r1, 20; @%p1 exit; setp.eq.u32 %p2, %r1, %r1; vote.sync.ballot.b32 %r0, %p2, -1;");
  for (std::uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(values[lane], lane < 20 ? 0xfffffu : 0);
}

TEST(SimulatedWarps, ThreadsOfTwoBranchesMeet) {
  // Independent threads: the instructions are different ones of the same kind.
  const std::vector<std::uint32_t> values = results(R"(setp.lt.u32 %p1, %r1, 8; @%p1 bra low;
    shfl.sync.bfly.b32 %r0, %r1, 31, 31, -1; bra.uni end;
    low: add.u32 %r2, %r1, 100; shfl.sync.bfly.b32 %r0, %r2, 31, 31, -1;
    end:)");
  EXPECT_EQ(values[0], 31u);
  EXPECT_EQ(values[31], 100u);
  EXPECT_EQ(values[10], 21u);
}

TEST(SimulatedWarps, ActiveMaskIsOfTheBranch) {
  const std::vector<std::uint32_t> values = results(R"(setp.lt.u32 %p1, %r1, 5; @%p1 bra low;
    activemask.b32 %r0; bra.uni end;
    low: activemask.b32 %r0;
    end:)",
                                                    40);
  EXPECT_EQ(values[2], 0x1fu);
  EXPECT_EQ(values[9], 0xffffffe0u);
  EXPECT_EQ(values[39], 0xffu);
}

// The first warp waits for the second one, which asks for its active threads.
TEST(SimulatedWarps, ActiveMaskDoesNotWaitForThoseThatSpin) {
  const std::string ptx = kernel_of(R"(setp.ge.u32 %p1, %r1, 32; @%p1 bra second;
again: ld.volatile.global.u32 %r2, [%rd1]; setp.eq.u32 %p2, %r2, 0; @%p2 bra again; ret;
second: activemask.b32 %r3; st.volatile.global.u32 [%rd1], %r3;)");
  EXPECT_EQ(values_of(ptx, 1, {64}), std::vector<std::uint32_t>{0xffffffff});
}

TEST(SimulatedWarps, Matches) {
  const std::string group = "rem.u32 %r2, %r1, 3; ";
  const std::vector<std::uint32_t> any = results(group + "match.any.sync.b32 %r0, %r2, -1;");
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    std::uint32_t expected = 0;
    for (std::uint32_t other = 0; other < 32; ++other)
      expected |= std::uint32_t{other % 3 == lane % 3} << other;
    EXPECT_EQ(any[lane], expected);
  }
  EXPECT_EQ(results(group + "match.all.sync.b32 %r3|%p1, %r2, -1; selp.u32 %r0, 1, %r3, %p1;"),
            std::vector<std::uint32_t>(32, 0));
  EXPECT_EQ(results("mov.u64 %rd2, 0x100000005; match.all.sync.b64 %r0|%p1, %rd2, -1;"),
            std::vector<std::uint32_t>(32, 0xffffffff));
  const std::vector<std::uint32_t> wide = results(
      "and.b32 %r2, %r1, 1; cvt.u64.u32 %rd2, %r2; shl.b64 %rd2, %rd2, 40; match.any.sync.b64 %r0, %rd2, "
      "-1;");
  EXPECT_EQ(wide[1], 0xaaaaaaaau);
}

TEST(SimulatedWarps, Reductions) {
  EXPECT_EQ(results("redux.sync.add.u32 %r0, %r1, -1;"), std::vector<std::uint32_t>(32, 496));
  EXPECT_EQ(results("sub.s32 %r2, 5, %r1; redux.sync.min.s32 %r0, %r2, -1;"),
            std::vector<std::uint32_t>(32, static_cast<std::uint32_t>(-26)));
  EXPECT_EQ(results("sub.s32 %r2, 5, %r1; redux.sync.max.u32 %r0, %r2, -1;"),
            std::vector<std::uint32_t>(32, 0xffffffff));
  EXPECT_EQ(results("redux.sync.or.b32 %r0, %r1, -1;"), std::vector<std::uint32_t>(32, 31));
  EXPECT_EQ(results("redux.sync.and.b32 %r0, %r1, -1;"), std::vector<std::uint32_t>(32, 0));
  EXPECT_EQ(results("redux.sync.xor.b32 %r0, %r1, -1;"), std::vector<std::uint32_t>(32, 0));
}

TEST(SimulatedWarps, OneThreadIsElected) {
  const std::vector<std::uint32_t> values =
      results("elect.sync %r2|%p1, 0xffffffff; selp.u32 %r0, 100, %r2, %p1;");
  EXPECT_EQ(std::count(values.begin(), values.end(), 100u), 1);
}

TEST(SimulatedWarps, MasksOfLanes) {
  const auto check = [](const std::string& name, std::uint32_t (*expected)(unsigned lane)) {
    const std::vector<std::uint32_t> values = results("mov.u32 %r0, %" + name + ";", 64);
    for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(values[i], expected(i % 32)) << name;
  };
  check("laneid", [](unsigned lane) { return lane; });
  check("lanemask_eq", [](unsigned lane) { return 1u << lane; });
  check("lanemask_lt", [](unsigned lane) { return (1u << lane) - 1; });
  check("lanemask_le", [](unsigned lane) { return ~(lane == 31 ? 0 : ~0u << (lane + 1)); });
  check("lanemask_gt", [](unsigned lane) { return lane == 31 ? 0 : ~0u << (lane + 1); });
  check("lanemask_ge", [](unsigned lane) { return ~0u << lane; });
}

TEST(SimulatedWarps, WarpBarrierOrdersSharedMemory) {
  const std::vector<std::uint32_t> values = results(R"(.shared .align 4 .b8 s[128];
    mov.u32 %r2, s; mad.lo.u32 %r3, %r1, 4, %r2; st.shared.u32 [%r3], %r1; bar.warp.sync 0xffffffff;
    xor.b32 %r4, %r1, 31; mad.lo.u32 %r3, %r4, 4, %r2; ld.shared.u32 %r0, [%r3];)");
  for (std::uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(values[lane], 31 - lane);
}

}  // namespace warp_test
}  // namespace opgate::simulator::tests
