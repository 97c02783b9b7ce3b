// The tool `sync`: barriers that not all threads reach, and masks that name threads which are not there.
#include <set>

#include "machine/launches/block_order.h"
#include "watched.h"

namespace opgate::simulator::tests {
namespace sync_test {

std::vector<Finding> found_in(const std::string& body, Extent block) {
  Tools tools;
  tools.sync = true;
  return findings_of(kernel_of(body), {2}, block, tools);
}

void expect_wrong(const std::vector<Finding>& findings, const std::string& words) {
  expect_finding(findings, Finding::Kind::sync, words);
}

TEST(SimulatedSync, ThreadsThatHaveExited) {
  const auto body = [](const std::string& first) {
    return "setp.lt.u32 %p1, %r1, " + first + "; @%p1 ret; bar.sync 0;";
  };
  expect_wrong(found_in(body("3"), {64}),
               "bar.sync is for all threads of the block, of which 3 threads have exited");
  expect_wrong(found_in(body("1"), {64}), "1 thread has exited");
  expect_wrong(found_in(body("32"), {64}), "32 threads have exited");
  expect_nothing(found_in(body("0"), {64}));
  // The barrier is for the other warp alone.
  expect_nothing(found_in("setp.lt.u32 %p1, %r1, 32; @%p1 ret; bar.sync 1, 32;", {64}));
  // The last threads exit after the barrier.
  expect_nothing(found_in("bar.sync 0; setp.lt.u32 %p1, %r1, 3; @%p1 ret; bar.warp.sync 0xfffffff8;", {32}));
}

TEST(SimulatedSync, AWarpThatComesToABarrierInTwoPlaces) {
  const auto body = [](const std::string& bit, const std::string& barrier) {
    return "and.b32 %r2, %r1, " + bit + "; setp.eq.u32 %p1, %r2, 0; @%p1 bra other; " + barrier +
           " 0; bra end;\nother: " + barrier + " 0;\nend:";
  };
  const std::vector<Finding> found = found_in(body("1", "bar.sync"), {64});
  expect_wrong(found, "bar.sync is reached by some threads of a warp");
  ASSERT_EQ(found.size(), 1u) << in_lines(found);
  ASSERT_TRUE(found[0].other);
  EXPECT_NE(found[0].place.location, found[0].other->location);
  expect_wrong(found_in(body("1", "barrier.sync.aligned"), {64}), "some threads of a warp");
  // By warps, or by a barrier that each thread may come to by itself.
  expect_nothing(found_in(body("32", "bar.sync"), {64}));
  expect_nothing(found_in(body("1", "barrier.sync"), {64}));
}

TEST(SimulatedSync, APartOfAWarp) {
  // Half of each warp comes to one barrier and the other half to another one, which are for 32 threads each.
  const std::string body = "and.b32 %r2, %r1, 16; shr.u32 %r2, %r2, 4; BARRIER %r2, 32;";
  const auto with = [&](const std::string& barrier) {
    std::string text = body;
    return found_in(text.replace(text.find("BARRIER"), 7, barrier), {64});
  };
  expect_wrong(with("bar.sync"), "bar.sync is reached by 16 of 32 threads of a warp");
  expect_nothing(with("barrier.sync"));
  expect_nothing(found_in("shr.u32 %r2, %r1, 5; bar.sync %r2, 32;", {64}));
}

TEST(SimulatedSync, MasksOfLanesThatAreNotThere) {
  expect_wrong(found_in("setp.lt.u32 %p1, %r1, 3; @%p1 ret; bar.warp.sync -1;", {32}),
               "bar.warp.sync with the mask 0xffffffff names 3 lanes whose thread has exited");
  expect_nothing(found_in("setp.lt.u32 %p1, %r1, 3; @%p1 ret; bar.warp.sync 0xfffffff8;", {32}));
  expect_wrong(found_in("shfl.sync.idx.b32 %r2, %r1, 0, 31, -1;", {48}),
               "shfl.sync.idx.b32 with the mask 0xffffffff names 16 lanes that the block does not have");
  expect_nothing(found_in("shfl.sync.idx.b32 %r2, %r1, 0, 31, -1;", {64}));
  expect_nothing(found_in("activemask.b32 %r3; shfl.sync.idx.b32 %r2, %r1, 0, 31, %r3;", {48}));
}

TEST(SimulatedSync, ABlockWithoutWholeWarpsIsOneFindingOfItsKernel) {
  const std::string steps =
      "shfl.sync.down.b32 %r2, %r1, 16, 31, -1; shfl.sync.down.b32 %r3, %r2, 8, 31, -1; "
      "shfl.sync.bfly.b32 %r2, %r3, 4, 31, -1;";
  const std::vector<Finding> found = found_in(steps, {24});
  ASSERT_EQ(found.size(), 1u) << in_lines(found);
  EXPECT_GE(found[0].count, 3u);
  // Threads that have left are looked for at each place: they may leave between two.
  EXPECT_EQ(found_in("setp.lt.u32 %p1, %r1, 3; @%p1 ret; " + steps, {32}).size(), 3u);
}

TEST(SimulatedSync, WarpsBeginInAnOrderOfTheSeed) {
  // The first warp that counts gets 0.
  const std::string ptx = kernel_of(
      "and.b32 %r2, %r1, 31; setp.ne.u32 %p1, %r2, 0; @%p1 ret; atom.global.add.u32 %r3, [%rd1], 1; shr.u32 "
      "%r4, %r1, 5; "
      "mul.wide.u32 %rd2, %r3, 4; add.u64 %rd2, %rd2, %rd1; st.global.u32 [%rd2+4], %r4;");
  const auto order = [&](std::uint64_t seed, bool watched) {
    FakeDevice device;
    const std::uint64_t memory = device.allocate(std::vector<std::uint32_t>(9));
    Observer observer({});
    Launch launch = launch_of("k", {}, {256}, Arguments(memory));
    launch.order_seed = seed;
    if (watched) launch.observer = &observer;
    expect_no_fault(Module::parse(ptx)->run(launch, device));
    std::vector<std::uint32_t> values = device.read<std::uint32_t>(memory);
    values.erase(values.begin());
    return values;
  };
  const std::vector<std::uint32_t> by_index{0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(order(0, true), by_index);
  std::set<std::vector<std::uint32_t>> orders;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) orders.insert(order(seed, true));
  EXPECT_GT(orders.size(), 4u);
  EXPECT_EQ(order(3, true), order(3, true));
}

TEST(SimulatedSync, WhatIsNotKnownIsNotWatchedInSilence) {
  std::string unknown;
  const Tools tools = Tools::parse("race,,sync", unknown);
  EXPECT_TRUE(tools.race && tools.sync && !tools.init);
  EXPECT_EQ(unknown, "");
  EXPECT_FALSE(Tools::parse("", unknown).any());
  EXPECT_TRUE(Tools::parse("init,memory", unknown).init);
  EXPECT_EQ(unknown, "memory");
}

TEST(SimulatedFindings, AreKeptOnceForTwoInstructionsAndNotWithoutEnd) {
  Findings findings;
  for (std::uint32_t site = 1; site <= Findings::kMost + 20; ++site) {
    for (int i = 0; i < 3; ++i) {
      if (!findings.is_new(Finding::Kind::race, "k", site, 7)) continue;
      Finding finding;
      finding.message = std::to_string(site);
      findings.add(finding);
    }
  }
  EXPECT_FALSE(findings.is_new(Finding::Kind::race, "k", 1, 8));
  EXPECT_EQ(findings.dropped(), 61u);
  const std::vector<Finding> all = findings.take();
  ASSERT_EQ(all.size(), Findings::kMost);
  EXPECT_EQ(all[4].message, "5");
  EXPECT_EQ(all[4].count, 3u);
  EXPECT_TRUE(findings.is_new(Finding::Kind::init, "k", 1, 7));
}

TEST(SimulatedFindings, AreLinesOfJson) {
  Finding finding;
  finding.kind = Finding::Kind::init;
  finding.kernel = "a\"b";
  finding.message = "reads\n\\";
  finding.place = {"ld.u32", "a.cu:3", {1, 2, 3}, {4, 5, 6}};
  finding.space = "shared";
  finding.address = 255;
  finding.bytes = 4;
  const std::string line = to_line(finding);
  EXPECT_EQ(
      line,
      R"({"tool":"init","kernel":"a\"b","message":"reads\n\\","place":{"instruction":"ld.u32","location":"a.cu:3",)"
      R"("block":[1,2,3],"thread":[4,5,6]},"space":"shared","address":"0xff","bytes":4,"count":1})");
  EXPECT_EQ(to_line(finding_from_line(line).value()), line);
  EXPECT_FALSE(finding_from_line(line.substr(0, line.size() - 1)));
}

TEST(SimulatedFindings, OfOperationsHaveTheirStreams) {
  Finding finding{.kind = Finding::Kind::stream, .message = "a copy and a kernel use the same 4 bytes"};
  finding.place = {"kernel k (st.global.f32)", "k.cu:3", {}, {}, 7};
  finding.other = {"a copy", "", {}, {}, 0};
  const Finding read = finding_from_line(to_line(finding)).value();
  EXPECT_EQ(actor_at(read.place), "stream 7");
  EXPECT_EQ(actor_at(read.other.value()), "the host");
  EXPECT_EQ(to_text(read),
            "stream: a copy and a kernel use the same 4 bytes; kernel k (st.global.f32) at k.cu:3");
}

// For a fault only the location in the source is known beside the message.
TEST(SimulatedFindings, OfFaultsHaveALocation) {
  const Finding fault{.kind = Finding::Kind::memory,
                      .kernel = "k",
                      .message = "past the end",
                      .place = {.instruction = "", .location = "k.cu:3"},
                      .error = "cudaErrorIllegalAddress"};
  const Finding read = finding_from_line(to_line(fault)).value();
  EXPECT_EQ(to_line(read),
            R"({"tool":"memory","kernel":"k","message":"past the end","place":{"location":"k.cu:3"},)"
            R"("error":"cudaErrorIllegalAddress","count":1})");
  EXPECT_EQ(to_text(read), "kernel k, k.cu:3: past the end (cudaErrorIllegalAddress)");
  EXPECT_EQ(actor_at(read.place), "");
}

}  // namespace sync_test
}  // namespace opgate::simulator::tests
