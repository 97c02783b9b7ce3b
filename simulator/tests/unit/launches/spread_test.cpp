// Large launches of compiled code, whose blocks several threads run.
#include <fenv.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>

#include <opgate_sim/schedule.h>
#include "both_ways.h"
#include "compiled/one_thread.h"
#include "instructions/catalogue.h"
#include "ptx/program_builder.h"
#include "ptx/source/declarations.h"

namespace opgate::simulator::tests {
namespace spread_test {

constexpr unsigned kBlocks = 300;
constexpr unsigned kThreads = 64;

/// A loop that takes long enough for a launch of kBlocks blocks to be spread. %r2 is the index of the block,
/// and %r3 depends on it and on the thread.
const std::string kLong =
    "mov.u32 %r2, %ctaid.x; mad.lo.u32 %r3, %r2, 64, %r1; mov.u32 %r4, 300;\n"
    "again: mad.lo.u32 %r3, %r3, 1664525, 1013904223; sub.u32 %r4, %r4, 1; setp.ne.u32 %p1, %r4, 0;\n"
    "@%p1 bra again;\n";

/// Stores %r3 instead of the thread.
const std::string kStore =
    "mad.lo.u32 %r5, %r2, 64, %r1; mul.wide.u32 %rd2, %r5, 4; add.u64 %rd2, %rd2, %rd1;\n"
    "st.global.u32 [%rd2+64], %r3;\n";

/// The first 64 bytes hold what all blocks share.
struct Given {
  unsigned threads = 1;
  std::uint64_t seed = 1;
  unsigned blocks = kBlocks;
  std::size_t values = 16 + std::size_t{kBlocks} * kThreads;
};

Ran run_spread(const std::string& body, const Given& given) {
  CompilationSettings settings = settings_of(CompilationSettings::When::always);
  settings.threads = given.threads;
  return run_with(settings, kernel_of(body), [&](FakeDevice& device, std::vector<std::uint64_t>& results) {
    device.may_be_asked = true;
    results.push_back(device.allocate(std::vector<std::uint32_t>(given.values)));
    Launch launch = launch_of("k", {given.blocks}, {kThreads}, Arguments(results.front()));
    launch.instruction_limit = 0;
    launch.order_seed = given.seed;
    return launch;
  });
}

std::string why_of(const std::string& body) {
  const std::string ptx =
      kernel_of(body, ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);");
  const Declarations declarations = read_declarations(ptx);
  return why_one_thread(*ProgramBuilder(declarations, instruction_set()).build(*declarations.function("k")));
}

struct Pair {
  const char* kept;    ///< on one thread
  const char* reason;  ///< contained in what is said about it
  const char* twin;    ///< which may be spread
};

const Pair kPairs[] = {
    {"atom.global.add.u32 %r2, [%rd1], 1; st.global.u32 [%rd1+4], %r2;", "whose result is used",
     "atom.global.add.u32 %r2, [%rd1], 1;"},
    {"atom.global.add.u32 %r2, [%rd1], 1; setp.eq.u32 %p1, %r2, 3; @%p1 st.global.u32 [%rd1+4], %r1;",
     "whose result is used", "atom.shared.add.u32 %r2, [%r1], 1; st.global.u32 [%rd1+4], %r2;"},
    {"red.global.add.f32 [%rd1], 0f3F800000;", "whose order with others matters",
     "red.shared.add.f32 [%r1], 0f3F800000;"},
    {"red.global.add.f64 [%rd1], 0d3FF0000000000000;", "whose order with others matters",
     "red.global.add.u64 [%rd1], 7;"},
    {"red.global.inc.u32 [%rd1], %r1;", "whose order with others matters", "red.global.max.s32 [%rd1], %r1;"},
    {"atom.global.exch.b32 %r2, [%rd1], %r1;", "whose order with others matters",
     "red.global.or.b32 [%rd1], %r1;"},
    {"atom.global.cas.b32 %r2, [%rd1], 0, %r1;", "whose order with others matters",
     "atom.shared.cas.b32 %r2, [%r1], 0, %r1;"},
    {"red.release.gpu.global.add.u32 [%rd1], 1;", "may wait for each other",
     "red.relaxed.gpu.global.add.u32 [%rd1], 1;"},
    {"ld.volatile.global.u32 %r2, [%rd1];", "may wait for each other", "ld.volatile.shared.u32 %r2, [%r1];"},
    {"ld.acquire.gpu.u32 %r2, [%rd1];", "may wait for each other", "ld.acquire.cta.u32 %r2, [%rd1];"},
    {"st.relaxed.gpu.global.u32 [%rd1], 1;", "may wait for each other", "st.weak.global.u32 [%rd1], 1;"},
    {"ld.global.cv.u32 %r2, [%rd1];", "may wait for each other", "ld.global.cg.u32 %r2, [%rd1];"},
    {"membar.gl;", "may wait for each other", "membar.cta;"},
    {"fence.acq_rel.gpu;", "may wait for each other", "fence.proxy.async;"},
    {"nanosleep.u32 20;", "may wait for each other", "bar.sync 0;"},
    {"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [%r1], 16;",
     "whose order with others may matter", "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 16;"},
    {"tensormap.replace.tile.global_address.global.b1024.b64 [%rd1], %rd1;", "changes what other blocks read",
     "prefetch.global.L2 [%rd1];"},
    {"mov.u32 %r2, %clock;", "the clock", "mov.u32 %r2, %laneid;"},
    {"{ .param .b64 f; .param .b64 a; .param .b32 r; st.param.b64 [f], %rd1; st.param.b64 [a], %rd1;\n"
     "call.uni (r), vprintf, (f, a); }",
     "a call of the host", "{ .param .b64 f; st.param.b64 [f], %rd1; }"},
};

TEST(SpreadLaunches, EachReasonKeepsAKernelOnOneThread) {
  for (const Pair& pair : kPairs) {
    EXPECT_NE(why_of(pair.kept).find(pair.reason), std::string::npos)
        << pair.kept << ": " << why_of(pair.kept);
    EXPECT_EQ(why_of(pair.twin), "") << pair.twin;
  }
}

TEST(SpreadLaunches, LeaveTheSameAsOneThreadForEachOrderOfBlocks) {
  const std::string body =
      kLong + kStore +
      "red.global.add.u32 [%rd1], %r3; red.global.min.s32 [%rd1+4], %r3; red.global.max.u32 [%rd1+8], %r3;\n"
      "atom.global.xor.b32 %r6, [%rd1+12], %r3; red.global.add.u64 [%rd1+16], %rd2;\n"
      "red.global.max.s64 [%rd1+24], %rd2;\n";
  for (std::uint64_t seed = 0; seed < 25; ++seed) {
    const Ran one = run_spread(body, {.threads = 1, .seed = seed});
    const Ran many = run_spread(body, {.threads = 4, .seed = seed});
    EXPECT_EQ(one.outcome.threads, 1u);
    EXPECT_EQ(many.outcome.threads, 4u);
    expect_same(one, many);
  }
}

// An increment that is not one access would be lost now and then.
TEST(SpreadLaunches, CountEachThread) {
  std::string body =
      "mov.u32 %r5, 40;\nmore: red.global.add.u32 [%rd1], 1;\n"
      "red.global.max.u32 [%rd1+4], %r5; sub.u32 %r5, %r5, 1;\n";
  for (int i = 0; i < 200; ++i) body += "add.u32 %r6, %r6, %r5;\n";
  body += "setp.ne.u32 %p2, %r5, 0; @%p2 bra more;\n";
  for (int i = 0; i < 10; ++i) {
    const Ran ran = run_spread(body, {.threads = 4});
    ASSERT_EQ(ran.outcome.threads, 4u);
    std::uint32_t count = 0;
    std::memcpy(&count, ran.memory.front().data(), sizeof(count));
    EXPECT_EQ(count, kBlocks * kThreads * 40);
  }
}

// What was started on one thread has no twin on several.
TEST(SpreadLaunches, OnlyLargeOnesOfKernelsThatAllowItAreSpread) {
  EXPECT_EQ(run_spread(kLong + kStore, {.threads = 4}).outcome.threads, 4u);
  EXPECT_EQ(run_spread(kLong + kStore, {.threads = 4, .blocks = 20}).outcome.threads, 1u);
  EXPECT_EQ(run_spread(kLong + kStore + "membar.gl;\n", {.threads = 4}).outcome.threads, 1u);
}

// Threads that all change the same place only wait for each other.
TEST(SpreadLaunches, KernelsThatDoLittleBesidesReductionsAreNotSpread) {
  const std::string red = "red.global.add.u32 [%rd1], 1;\n";
  const auto threads_with = [](const std::string& body) {
    return run_spread(body, {.threads = 4}).outcome.threads;
  };
  EXPECT_EQ(threads_with(kLong + red), 4u);
  std::string many;
  for (int i = 0; i < 20; ++i) many += red;
  EXPECT_EQ(threads_with(kLong + many), 1u);
  const std::string loop = "mov.u32 %r5, 99; more: sub.u32 %r5, %r5, 1;\n";
  const std::string repeat = "setp.ne.u32 %p2, %r5, 0; @%p2 bra more;\n";
  EXPECT_EQ(threads_with(kLong + loop + red + repeat), 1u);
  EXPECT_EQ(threads_with(kLong + loop + repeat + red), 4u);
}

TEST(SpreadLaunches, WhatALaunchAsksForKeepsItOnOneThread) {
  const auto threads_of = [](void (*change)(Launch & launch, FakeDevice & device)) {
    CompilationSettings settings = settings_of(CompilationSettings::When::always);
    settings.threads = 4;
    const auto prepare = [&](FakeDevice& device, std::vector<std::uint64_t>& results) {
      device.may_be_asked = true;
      results.push_back(device.allocate(std::vector<std::uint32_t>(16 + kBlocks * kThreads)));
      Launch launch = launch_of("k", {kBlocks}, {kThreads}, Arguments(results.front()));
      launch.instruction_limit = 0;
      change(launch, device);
      return launch;
    };
    return run_with(settings, kernel_of(kLong + kStore), prepare).outcome.threads;
  };
  EXPECT_EQ(threads_of([](Launch&, FakeDevice&) {}), 4u);
  EXPECT_EQ(threads_of([](Launch& launch, FakeDevice&) { launch.instruction_limit = 1'000'000'000; }), 1u);
  EXPECT_EQ(threads_of([](Launch& launch, FakeDevice&) { launch.grid_workspace = 8; }), 1u);
  EXPECT_EQ(threads_of([](Launch& launch, FakeDevice&) {
              launch.schedule = std::make_shared<const LaunchSchedule>();
            }),
            1u);
  EXPECT_EQ(threads_of([](Launch& launch, FakeDevice&) { launch.has_clusters = true; }), 1u);
  EXPECT_EQ(threads_of([](Launch& launch, FakeDevice&) { launch.cluster = {2}; }), 1u);
  EXPECT_EQ(threads_of([](Launch& launch, FakeDevice&) {
              static std::string printed;
              launch.printed = &printed;
            }),
            1u);
  EXPECT_EQ(threads_of([](Launch&, FakeDevice& device) { device.may_be_asked = false; }), 1u);
}

// Blocks that are so long that they let others run stay with the thread that has begun them.
TEST(SpreadLaunches, OfLongBlocksLeaveTheSame) {
  const std::string body =
      "mov.u32 %r2, %ctaid.x; mad.lo.u32 %r3, %r2, 64, %r1; mov.u32 %r4, 40000;\n"
      "again: mad.lo.u32 %r3, %r3, 1664525, 1013904223; sub.u32 %r4, %r4, 1; setp.ne.u32 %p1, %r4, 0;\n"
      "@%p1 bra again;\n" +
      kStore;
  for (const unsigned blocks : {2u, 3u, 7u}) {
    const Ran one = run_spread(body, {.threads = 1, .blocks = blocks});
    const Ran many = run_spread(body, {.threads = 4, .blocks = blocks});
    EXPECT_EQ(many.outcome.threads, std::min(blocks, 4u));
    expect_same(one, many);
  }
}

// The interpreter executes products, and remembers how each kind of them is laid out. The thread sanitizer
// reports what threads would change there at once.
TEST(SpreadLaunches, OfProductsLeaveTheSame) {
  const std::string body =
      "mov.u32 %r2, %ctaid.x; mad.lo.u32 %r3, %r2, 64, %r1; and.b32 %r3, %r3, 0x3fff3fff; mov.u32 %r4, 9;\n"
      "again: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r3, %r4, %r3, %r4}, "
      "{%r3, %r3}, {%f1, %f2, %f3, %f4};\n"
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1, %f2, %f3, %f4}, {%r3, %r4, %r3, %r4}, "
      "{%r3, %r3}, {%f1, %f2, %f3, %f4};\n";
  std::string more;
  for (int i = 0; i < 20; ++i) more += "mad.lo.u32 %r6, %r6, %r6, %r3;\n";
  const std::string end =
      "sub.u32 %r4, %r4, 1; setp.ne.u32 %p1, %r4, 0; @%p1 bra again; mov.b32 %r3, %f1;\n" + kStore;
  const Ran one = run_spread(body + more + end, {.threads = 1});
  const Ran many = run_spread(body + more + end, {.threads = 4});
  EXPECT_EQ(many.outcome.threads, 4u);
  expect_same(one, many);
}

// Blocks 150 and 210 load from a wrong address, and the others go on for longer than these.
TEST(SpreadLaunches, FaultOfTheBlockThatBeganFirstIsReported) {
  const std::string body =
      "mov.u32 %r2, %ctaid.x; mad.lo.u32 %r3, %r2, 64, %r1;\n"
      "setp.eq.u32 %p2, %r2, 150; setp.eq.u32 %p3, %r2, 210; or.pred %p2, %p2, %p3; setp.eq.u32 %p3, %r1, "
      "37;\n"
      "and.pred %p2, %p2, %p3; mov.u64 %rd3, 16; @%p2 ld.global.u32 %r7, [%rd3];\n" +
      kLong + kStore;
  for (std::uint64_t seed = 0; seed < 25; ++seed) {
    const Ran one = run_spread(body, {.threads = 1, .seed = seed});
    const Ran many = run_spread(body, {.threads = 4, .seed = seed});
    ASSERT_EQ(static_cast<int>(one.outcome.fault), static_cast<int>(Fault::illegal_address));
    EXPECT_EQ(many.outcome.threads, 4u);
    EXPECT_EQ(one.outcome.message, many.outcome.message);
    EXPECT_EQ(one.outcome.location, many.outcome.location);
    EXPECT_EQ(one.outcome.block_index.x, many.outcome.block_index.x) << "seed " << seed;
    EXPECT_EQ(one.outcome.thread_index.x, 37u);
    EXPECT_EQ(many.outcome.thread_index.x, 37u);
  }
}

// From block 100 on, blocks with an odd index come to a fault at once, and the others later.
TEST(SpreadLaunches, ALaterFaultOfAnEarlierBlockIsReported) {
  const std::string body =
      kLong +
      "setp.lt.u32 %p2, %r2, 100; @%p2 bra fine; mov.u64 %rd3, 16; and.b32 %r5, %r2, 1; setp.ne.u32 %p3, "
      "%r5, 0;\n"
      "@%p3 bra fault; mov.u32 %r4, 9000;\n"
      "more: mad.lo.u32 %r3, %r3, 1664525, 1013904223; sub.u32 %r4, %r4, 1; setp.ne.u32 %p1, %r4, 0;\n"
      "@%p1 bra more;\n"
      "fault: ld.global.u32 %r7, [%rd3];\nfine:\n" +
      kStore;
  for (int i = 0; i < 20; ++i) {
    const Ran ran = run_spread(body, {.threads = 4, .seed = 0});
    EXPECT_EQ(ran.outcome.threads, 4u);
    EXPECT_EQ(ran.outcome.block_index.x, 100u);
    EXPECT_EQ(ran.outcome.thread_index.x, 0u);
  }
}

// With the seed 0, block 250 waits for what block 299 would store, and block 299 has a fault. The wait is a
// race that nothing shows: on one thread, the fault ends the launch.
TEST(SpreadLaunches, AFaultEndsBlocksThatWaitForIt) {
  const std::string body =
      kLong +
      "setp.eq.u32 %p2, %r2, 299; mov.u64 %rd3, 16; @%p2 ld.global.u32 %r7, [%rd3];\n"
      "setp.ne.u32 %p2, %r2, 250; @%p2 bra done; setp.ne.u32 %p2, %r1, 0; @%p2 bra done;\n"
      "wait: ld.global.u32 %r8, [%rd1]; setp.eq.u32 %p2, %r8, 0; @%p2 bra wait;\n"
      "done:\n";
  const Ran ran = run_spread(body, {.threads = 4, .seed = 0});
  EXPECT_EQ(ran.outcome.threads, 4u);
  EXPECT_EQ(static_cast<int>(ran.outcome.fault), static_cast<int>(Fault::illegal_address));
  EXPECT_EQ(ran.outcome.block_index.x, 299u);
}

// The thread that launches may round in another direction; kernels do not, on whichever thread they run.
TEST(SpreadLaunches, RoundAsOneThreadDoes) {
  const std::string body = kLong +
                           "cvt.rn.f32.u32 %f1, %r3; mov.f32 %f2, 0f40400000; div.rn.f32 %f3, %f1, %f2;\n"
                           "mov.b32 %r3, %f3;\n" +
                           kStore;
  const Ran one = run_spread(body, {.threads = 1});
  fesetround(FE_UPWARD);
  const Ran many = run_spread(body, {.threads = 8});
  const int kept = fegetround();
  fesetround(FE_TONEAREST);
  EXPECT_EQ(kept, FE_UPWARD);
  EXPECT_EQ(many.outcome.threads, 8u);
  expect_same(one, many);
}

// The threads that help do not exist in a child process.
TEST(SpreadLaunches, RunInAChildProcess) {
  const Ran before = run_spread(kLong + kStore, {.threads = 4});
  ASSERT_EQ(before.outcome.threads, 4u);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(60);  // one that waits for a thread which is not there must end
    const Ran ran = run_spread(kLong + kStore, {.threads = 4});
    _exit(ran.memory == before.memory && ran.outcome.threads == 4 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

}  // namespace spread_test
}  // namespace opgate::simulator::tests
