// Launches that do not end, and others that only take long.
#include <array>

#include "both_ways.h"

namespace opgate::simulator::tests {
namespace endless_test {

/// Takes about 90 million instructions: what is looked for after 64 million finds such a thread in its loop.
const std::string kLong =
    "mov.u32 %r4, 30000000; again: sub.u32 %r4, %r4, 1; setp.ne.u32 %p1, %r4, 0; @%p1 bra again;\n";

constexpr std::array kWays{CompilationSettings::When::never, CompilationSettings::When::always};

Outcome run_one(CompilationSettings::When way, const std::string& body, Extent block, Extent grid,
                std::size_t resident = 0) {
  return run_with(settings_of(way), kernel_of(body, ".shared .align 4 .b32 s[1];"),
                  [&](FakeDevice& device, std::vector<std::uint64_t>&) {
                    Launch launch = launch_of("k", grid, block,
                                              Arguments(device.allocate(std::vector<std::uint32_t>(64))));
                    launch.instruction_limit = 0;
                    launch.most_resident = resident;
                    return launch;
                  })
      .outcome;
}

void expect_endless(const std::string& body, Extent block = {}, Extent grid = {}, std::size_t resident = 0) {
  for (const auto way : kWays) {
    const Outcome outcome = run_one(way, body, block, grid, resident);
    EXPECT_EQ(static_cast<int>(outcome.fault), static_cast<int>(Fault::timeout)) << outcome.message;
    EXPECT_NE(outcome.message.find("the kernel does not end: its threads repeat"), std::string::npos)
        << outcome.message;
  }
}

void expect_end(const std::string& body, Extent block = {}, Extent grid = {}) {
  for (const auto way : kWays) expect_no_fault(run_one(way, body, block, grid));
}

TEST(SimulatedEndlessLaunches, AreFound) {
  expect_endless("again: bra again;", {64}, {3});
  expect_endless("again: atom.global.cas.b32 %r2, [%rd1], 1, 0; setp.eq.u32 %p1, %r2, 0; @%p1 bra again;",
                 {1}, {2});
  // One thread waits, and the others of its block wait for it.
  expect_endless(
      "setp.ne.u32 %p1, %r1, 0; @%p1 bra other; again: ld.volatile.global.u32 %r2, [%rd1];"
      "setp.eq.u32 %p2, %r2, 0; @%p2 bra again; other: bar.sync 0;",
      {64}, {5});
  // All threads of the block wait, with a barrier in their loop.
  expect_endless(
      "again: ld.volatile.global.u32 %r2, [%rd1]; bar.sync 0; setp.eq.u32 %p2, %r2, 0; @%p2 bra again;", {64},
      {2});
  // Each pause is longer than the one before, up to the longest.
  expect_endless(
      "mov.u32 %r3, 1; again: ld.volatile.global.u32 %r2, [%rd1]; setp.ne.u32 %p1, %r2, 0; @%p1 bra done;"
      "mov.u32 %r4, %r3; pause: sub.u32 %r4, %r4, 1; setp.ne.u32 %p1, %r4, 0; @%p1 bra pause;"
      "shl.b32 %r3, %r3, 1; min.u32 %r3, %r3, 64; bra again; done: ret;",
      {1}, {2});
}

// The blocks that have begun wait for one that the device has no room for.
TEST(SimulatedEndlessLaunches, AreFoundIfBlocksCannotBegin) {
  const std::string body =
      "mov.u32 %r2, 1; red.global.add.u32 [%rd1], %r2; mov.u32 %r5, %nctaid.x;"
      "again: ld.volatile.global.u32 %r3, [%rd1]; setp.lt.u32 %p1, %r3, %r5; @%p1 bra again;";
  expect_endless(body, {1}, {9}, 8);
  for (const auto way : kWays) expect_no_fault(run_one(way, body, {1}, {9}, 9));
}

// Blocks wait for the one that begins last, and each has a barrier in its loop.
TEST(SimulatedEndlessLaunches, BlocksThatWaitAtBarriersLetOthersRun) {
  const std::string body =
      "mov.u32 %r2, 1; setp.ne.u32 %p1, %r1, 0; @!%p1 red.global.add.u32 [%rd1], %r2; mov.u32 %r5, %nctaid.x;"
      "again: ld.volatile.global.u32 %r3, [%rd1]; bar.sync 0; setp.lt.u32 %p2, %r3, %r5; @%p2 bra again;";
  expect_end(body, {64}, {9});
}

TEST(SimulatedEndlessLaunches, LongOnesEnd) {
  expect_end(kLong);
  // One block waits for another that takes long.
  expect_end("mov.u32 %r2, %ctaid.x; setp.ne.u32 %p1, %r2, 0; @%p1 bra other;" + kLong +
                 "st.volatile.global.u32 [%rd1], 1; ret; other: ld.volatile.global.u32 %r3, [%rd1];"
                 "setp.eq.u32 %p2, %r3, 0; @%p2 bra other;",
             {1}, {2});
}

// No register keeps what is counted.
TEST(SimulatedEndlessLaunches, LongOnesThatCountInMemoryEnd) {
  for (const std::string place : {"global.u32 %r2, [%rd1]", "shared.u32 %r2, [s]"}) {
    const std::string at = place.substr(place.find('['));
    const std::string space = place.substr(0, place.find('.'));
    expect_end("st." + space + ".u32 " + at + ", 0; again: ld." + place + "; add.u32 %r2, %r2, 1; st." +
               space + ".u32 " + at +
               ", %r2; setp.ne.u32 %p1, %r2, 16000000; mov.u32 %r2, 0; @%p1 bra again;");
  }
}

TEST(SimulatedEndlessLaunches, ThoseThatWaitForTheClockEnd) {
  expect_end(
      "mov.u64 %rd2, %globaltimer; add.u64 %rd2, %rd2, 25000000000; again: mov.u64 %rd3, %globaltimer;"
      "setp.lt.u64 %p1, %rd3, %rd2; mov.u64 %rd3, 0; @%p1 bra again;");
}

}  // namespace endless_test
}  // namespace opgate::simulator::tests
