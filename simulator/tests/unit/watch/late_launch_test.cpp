// Launches whose stores other blocks see late: without its fence a program has a wrong result with one of a
// few seeds, and with it with none of many.
#include <algorithm>

#include "watched.h"

namespace opgate::simulator::tests {
namespace late_launch_test {

using Words = std::vector<std::uint32_t>;

constexpr std::uint64_t kFewSeeds = 24;
constexpr std::uint64_t kManySeeds = 50;

// Where kernels have their data, their flags and counts, and their results; in words.
constexpr std::size_t kFlags = 256;
constexpr std::size_t kResults = 512;
const std::string kPlaces =
    "add.u64 %rd2, %rd1, 1024; add.u64 %rd3, %rd1, 2048; mov.u32 %r2, %ctaid.x; mul.wide.u32 %rd4, %r2, 4;\n"
    "add.u64 %rd5, %rd1, %rd4; add.u64 %rd6, %rd3, %rd4;\n";
const std::string kFence = "fence.acq_rel.gpu;\n";

struct Program {
  std::string body;
  Extent grid;
  Extent block{1};
  Extent cluster{};
};

Words words_with(const Program& program, std::uint64_t seed, std::uint64_t late, bool is_of_host = false) {
  FakeDevice device;
  device.is_of_host = is_of_host;
  const std::uint64_t memory = device.allocate(Words(1024));
  const std::unique_ptr<Module> module = Module::parse(kernel_of(kPlaces + program.body));
  Launch launch = launch_of("k", program.grid, program.block, Arguments(memory));
  launch.cluster = program.cluster;
  launch.has_clusters = program.cluster.x > 1;
  launch.order_seed = seed;
  launch.late_stores_seed = late;
  const Outcome outcome = module->run(launch, device);
  expect_no_fault(outcome);
  EXPECT_FALSE(late != 0 && outcome.compiled);
  return device.read<std::uint32_t>(memory);
}

template <class IsRight>
std::uint64_t count_of_wrong(const Program& program, std::uint64_t seeds, IsRight is_right) {
  std::uint64_t wrong = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed)
    wrong += is_right(words_with(program, seed, seed)) ? 0 : 1;
  return wrong;
}

template <class IsRight>
void expect_wrong(const Program& program, IsRight is_right) {
  EXPECT_GT(count_of_wrong(program, kFewSeeds, is_right), 0u) << program.body;
  for (std::uint64_t seed = 1; seed <= kFewSeeds; ++seed)
    EXPECT_TRUE(is_right(words_with(program, seed, 0))) << "also wrong if stores are visible at once";
}

template <class IsRight>
void expect_right(const Program& program, IsRight is_right) {
  EXPECT_EQ(count_of_wrong(program, kManySeeds, is_right), 0u) << program.body;
}

template <class IsRight>
void expect_pair(const std::function<Program(const std::string& fence)>& with, IsRight is_right,
                 const std::string& fence = kFence) {
  expect_wrong(with(""), is_right);
  expect_right(with(fence), is_right);
}

// Waits until the word is not 0.
std::string wait_for(const std::string& address, const std::string& label) {
  return label + ": ld.relaxed.gpu.global.u32 %r9, [" + address + "]; setp.eq.u32 %p9, %r9, 0; @%p9 bra " +
         label + ";\n" + kFence;
}

Program message(const std::string& release, const std::string& signal) {
  return {
      "setp.ne.u32 %p1, %r2, 0; @%p1 bra READS;\n"
      "st.global.u32 [%rd1], 1;\n" +
          release + signal + " ret;\nREADS:\n" + wait_for("%rd2", "WAITS") +
          "ld.global.u32 %r4, [%rd1]; st.global.u32 [%rd3], %r4;",
      {2}};
}

bool message_has_come(const Words& words) { return words[kResults] == 1; }

TEST(LateLaunches, PassMessagesByAnAtomicAccess) {
  expect_pair(
      [](const std::string& fence) { return message(fence, "atom.global.exch.b32 %r30, [%rd2], 1;"); },
      message_has_come);
}

TEST(LateLaunches, PassMessagesByARelaxedStore) {
  expect_pair([](const std::string& fence) { return message(fence, "st.relaxed.gpu.global.u32 [%rd2], 1;"); },
              message_has_come);
}

TEST(LateLaunches, PassMessagesByAVolatileStore) {
  expect_pair([](const std::string& fence) { return message(fence, "st.volatile.global.u32 [%rd2], 1;"); },
              message_has_come, "membar.gl;");
}

TEST(LateLaunches, NeedAFenceThatReachesOtherBlocks) {
  const std::string signal = "atom.global.exch.b32 %r4, [%rd2], 1;";
  for (const char* const narrow : {"fence.acq_rel.cta;", "fence.sc.cluster;", "membar.cta;",
                                   "fence.acquire.sync_restrict::shared::"
                                   "cluster.cluster;"})
    expect_wrong(message(narrow, signal), message_has_come);
  for (const char* const wide :
       {"fence.sc.gpu;", "fence.acq_rel.sys;", "membar.gl;", "membar.sys;", "fence.proxy.async;"})
    expect_right(message(wide, signal), message_has_come);
}

TEST(LateLaunches, ReleaseByOrderedAccesses) {
  for (const char* const signal :
       {"st.release.gpu.global.u32 [%rd2], 1;", "atom.release.gpu.global.exch.b32 %r4, [%rd2], 1;",
        "red.release.gpu.global.add.u32 [%rd2], 1;", "atom.acq_rel.sys.global.add.u32 %r4, [%rd2], 1;"})
    expect_right(message("", signal), message_has_come);
  for (const char* const signal :
       {"st.release.cta.global.u32 [%rd2], 1;", "atom.release.cta.global.exch.b32 %r4, [%rd2], 1;",
        "atom.acquire.gpu.global.exch.b32 %r4, [%rd2], 1;"})
    expect_wrong(message("", signal), message_has_come);
}

// A fence of one thread is one for what its block has done before, if a barrier orders it.
TEST(LateLaunches, ReleaseWhatOtherThreadsHaveStored) {
  const auto with = [](const std::string& fence) {
    return Program{
        "setp.ne.u32 %p1, %r2, 0; @%p1 bra READS;\n"
        "setp.ne.u32 %p2, %r1, 40; @%p2 bra STORED; st.global.u32 [%rd1], 1; STORED:\n"
        "bar.sync 0; setp.ne.u32 %p3, %r1, 0; @%p3 ret;\n" +
            fence + "red.global.add.u32 [%rd2], 1; ret;\nREADS: setp.ne.u32 %p3, %r1, 0; @%p3 ret;\n" +
            wait_for("%rd2", "WAITS") + "ld.global.u32 %r4, [%rd1]; st.global.u32 [%rd3], %r4;",
        {2},
        {64}};
  };
  expect_pair(with, message_has_come);
}

TEST(LateLaunches, PassMessagesThroughAThirdBlock) {
  expect_right({"setp.eq.u32 %p1, %r2, 0; @%p1 bra FIRST; setp.eq.u32 %p1, %r2, 1; @%p1 bra SECOND;\n" +
                    wait_for("%rd2+4", "WAITS2") +
                    "ld.global.u32 %r4, [%rd1]; st.global.u32 [%rd3], %r4; ret;\n"
                    "FIRST: st.global.u32 [%rd1], 1; st.release.gpu.global.u32 [%rd2], 1; ret;\nSECOND:" +
                    wait_for("%rd2", "WAITS1") + "st.relaxed.gpu.global.u32 [%rd2+4], 1;",
                {3}},
               message_has_come);
}

TEST(LateLaunches, BufferStores) {
  const auto with = [](const std::string& fence) {
    return Program{
        "st.relaxed.gpu.global.u32 [%rd5], 1;\n" + fence +
            "xor.b64 %rd7, %rd4, 4; add.u64 %rd7, %rd1, %rd7; ld.relaxed.gpu.global.u32 %r4, [%rd7];\n"
            "add.u32 %r4, %r4, 1; st.global.u32 [%rd6], %r4;",
        {2}};
  };
  const auto one_has_seen = [](const Words& words) { return words[kResults] + words[kResults + 1] > 2; };
  expect_pair(with, one_has_seen, "fence.sc.gpu;");
}

TEST(LateLaunches, AddUpInTheLastBlock) {
  const auto with = [](const std::string& fence) {
    return Program{
        "add.u32 %r3, %r2, 1; st.global.u32 [%rd5], %r3;\n" + fence +
            "atom.global.add.u32 %r4, [%rd2], 1; setp.ne.u32 %p1, %r4, 15; @%p1 ret;\nfence.acq_rel.gpu;\n"
            "mov.u32 %r5, 0; mov.u32 %r6, 0; mov.u64 %rd7, %rd1;\n"
            "ADDS: ld.global.u32 %r7, [%rd7]; add.u32 %r5, %r5, %r7; add.u64 %rd7, %rd7, 4; add.u32 %r6, "
            "%r6, 1;\n"
            "setp.lt.u32 %p2, %r6, 16; @%p2 bra ADDS;\nst.global.u32 [%rd3], %r5;",
        {16}};
  };
  expect_pair(with, [](const Words& words) { return words[kResults] == 136; });
}

// By hand, as in a cooperative kernel: each block reads what the next one has written before.
TEST(LateLaunches, MeetAtABarrierOfTheGrid) {
  const auto with = [](const std::string& fence) {
    return Program{
        "mad.lo.u32 %r3, %r2, 32, %r1; mul.wide.u32 %rd7, %r3, 4; add.u64 %rd8, %rd1, %rd7;\n"
        "add.u32 %r4, %r3, 1; st.global.u32 [%rd8], %r4; bar.sync 0;\n"
        "setp.ne.u32 %p1, %r1, 0; @%p1 bra MEET;\n" +
            fence +
            "red.global.add.u32 [%rd2], 1;\n"
            "WAITS: ld.relaxed.gpu.global.u32 %r5, [%rd2]; setp.lt.u32 %p2, %r5, 4; @%p2 bra WAITS;\n" +
            kFence +
            "MEET: bar.sync 0; add.u32 %r6, %r3, 32; and.b32 %r6, %r6, 127; mul.wide.u32 %rd9, %r6, 4;\n"
            "add.u64 %rd9, %rd1, %rd9; ld.global.u32 %r7, [%rd9]; add.u64 %rd10, %rd3, %rd7;\n"
            "st.global.u32 [%rd10], %r7;",
        {4},
        {32}};
  };
  expect_pair(with, [](const Words& words) {
    for (std::size_t i = 0; i < 128; ++i) {
      if (words[kResults + i] != (i + 32) % 128 + 1) return false;
    }
    return true;
  });
}

TEST(LateLaunches, AddBehindALock) {
  const auto with = [](const std::string& fence) {
    return Program{
        "TAKES: atom.global.cas.b32 %r3, [%rd2], 0, 1; setp.ne.u32 %p1, %r3, 0; @%p1 bra TAKES;\n" + kFence +
            "ld.global.u32 %r4, [%rd1]; add.u32 %r4, %r4, 1; st.global.u32 [%rd1], %r4;\n" + fence +
            "atom.global.exch.b32 %r30, [%rd2], 0;",
        {8}};
  };
  // Without the fence, one lock and what it guards may both be seen before the addition.
  expect_pair(with, [](const Words& words) { return words[0] == 8; });
}

TEST(LateLaunches, MakeAValueOnceAndLookTwice) {
  const auto with = [](const std::string& fence) {
    return Program{
        "ld.relaxed.gpu.global.u32 %r3, [%rd2]; setp.ne.u32 %p1, %r3, 0; @%p1 bra KNOWN;\n"
        "atom.global.cas.b32 %r4, [%rd2+4], 0, 1; setp.ne.u32 %p2, %r4, 0; @%p2 bra WAITS;\n"
        "st.global.u32 [%rd1], 7;\n" +
            fence + "st.relaxed.gpu.global.u32 [%rd2], 1; st.global.u32 [%rd6], 7; ret;\n" +
            wait_for("%rd2", "WAITS") + "KNOWN: " + kFence +
            "ld.global.u32 %r5, [%rd1]; st.global.u32 [%rd6], %r5;",
        {8}};
  };
  expect_pair(with, [](const Words& words) {
    return std::all_of(&words[kResults], &words[kResults + 8], [](std::uint32_t word) { return word == 7; });
  });
}

// As the scans of CUB: each block waits for the one before. Late signals must not take long.
TEST(LateLaunches, WaitForTheBlockBefore) {
  const Program program{
      "setp.eq.u32 %p1, %r2, 0; mov.u32 %r3, 1; @%p1 bra STORE;\n"
      "AGAIN: ld.relaxed.gpu.global.u32 %r3, [%rd5+-4]; setp.eq.u32 %p2, %r3, 0;\n"
      "vote.sync.any.pred %p3, %p2, -1; @%p3 bra AGAIN; add.u32 %r3, %r3, 1;\n"
      "STORE: st.relaxed.gpu.global.u32 [%rd5], %r3;",
      {1000},
      {32}};
  for (std::uint64_t late = 1; late <= 3; ++late) EXPECT_EQ(words_with(program, 0, late)[999], 1000u);
}

TEST(LateLaunches, LoadTheirOwnStores) {
  const Program program{
      "mul.wide.u32 %rd7, %r2, 16; add.u64 %rd8, %rd1, %rd7; add.u64 %rd9, %rd3, %rd7;\n"
      "mov.u64 %rd10, 0x1111111122222222; st.global.u64 [%rd8], %rd10;\n"
      "mov.u32 %r3, 0x3333; cvt.u16.u32 %h1, %r3; st.global.u16 [%rd8+2], %h1;\n"
      "st.global.v2.u32 [%rd8+8], {%r2, %r3};\n"
      "ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%rd8]; atom.global.add.u32 %r8, [%rd8+12], 1;\n"
      "add.u32 %r7, %r7, %r8; st.global.v4.u32 [%rd9], {%r4, %r5, %r6, %r7};",
      {4}};
  expect_right(program, [](const Words& words) {
    for (std::uint32_t block = 0; block < 4; ++block) {
      const std::uint32_t* const at = &words[kResults + 4 * block];
      if (at[0] != 0x33332222 || at[1] != 0x11111111 || at[2] != block || at[3] != 0x6666) return false;
      if (words[4 * block + 3] != 0x3334) return false;
    }
    return true;
  });
}

TEST(LateLaunches, AreNotLateWithWhatTheyDoAtomically) {
  const Program program{
      "setp.ne.u32 %p1, %r2, 0; @%p1 bra READS;\n"
      "st.global.u32 [%rd1], 5; atom.global.add.u32 %r3, [%rd1], 1; ret;\n"
      "READS: ld.relaxed.gpu.global.u32 %r4, [%rd1]; st.global.u32 [%rd3], %r4;",
      {2}};
  for (std::uint64_t late = 1; late <= kManySeeds; ++late)
    EXPECT_EQ(words_with(program, 0, late)[kResults], 6u);
}

TEST(LateLaunches, MeetAtTheBarrierOfACluster) {
  const auto with = [](const std::string& arrival) {
    return Program{"st.global.u32 [%rd5], 1;\nbarrier.cluster.arrive" + arrival +
                       ".aligned; barrier.cluster.wait.aligned;\n"
                       "xor.b64 %rd7, %rd4, 4; add.u64 %rd7, %rd1, %rd7; ld.global.u32 %r4, [%rd7];\n"
                       "st.global.u32 [%rd6], %r4;",
                   {2},
                   {1},
                   {2}};
  };
  const auto both_have_come = [](const Words& words) {
    return words[kResults] == 1 && words[kResults + 1] == 1;
  };
  expect_wrong(with(".relaxed"), both_have_come);
  expect_right(with(""), both_have_come);
  expect_right(with(".release"), both_have_come);
}

// The host may look at its memory while the kernel runs.
TEST(LateLaunches, AreNotLateInMemoryOfTheHost) {
  const Program program = message("", "atom.global.exch.b32 %r30, [%rd2], 1;");
  for (std::uint64_t seed = 1; seed <= kFewSeeds; ++seed)
    EXPECT_TRUE(message_has_come(words_with(program, seed, seed, /*is_of_host=*/true)));
}

// All blocks set a flag to the same value, which is no race: the second one finds the value in memory.
TEST(LateLaunches, HaveNoOtherRaces) {
  Tools tools;
  tools.race = true;
  const std::string flag = kernel_of(kPlaces + "st.global.u32 [%rd1], 1;");
  const std::string racy = kernel_of(kPlaces + message("", "atom.global.exch.b32 %r30, [%rd2], 1;").body);
  const std::string right =
      kernel_of(kPlaces + message(kFence, "atom.global.exch.b32 %r30, [%rd2], 1;").body);
  for (std::uint64_t seed = 1; seed <= kManySeeds; ++seed) {
    const auto races = [&](const std::string& ptx, Extent grid) {
      FakeDevice device;
      Launch launch = launch_of("k", grid, {1}, Arguments(device.allocate(Words(1024))));
      launch.late_stores_seed = seed;
      return findings_of_launch(device, ptx, launch, tools, seed);
    };
    expect_nothing(races(flag, {8}));
    expect_nothing(races(right, {2}));
    expect_finding(races(racy, {2}), Finding::Kind::race, "races with");
  }
}

}  // namespace late_launch_test
}  // namespace opgate::simulator::tests
