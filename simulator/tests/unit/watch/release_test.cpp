// The tool `race` in global memory: fences and atomic accesses by which blocks and threads hand values over.
#include "watched.h"

namespace opgate::simulator::tests {
namespace release_test {

std::vector<Finding> races_of(const std::string& body, Extent block, Extent grid = {}) {
  Tools tools;
  tools.race = true;
  return findings_of(kernel_of(body), grid, block, tools);
}

void expect_race(const std::vector<Finding>& findings) {
  expect_finding(findings, Finding::Kind::race, "races with");
}

std::string replaced(std::string text, const std::string& word, const std::string& by) {
  text.replace(text.find(word), word.size(), by);
  return text;
}

// Thread 0 of each block writes its sum and counts; all threads of the last block read the sums.
std::string last_block(const std::string& writer_fence, const std::string& reader) {
  return R"(.shared .align 4 .b8 last[4]; mov.u32 %r2, %ctaid.x; mul.wide.u32 %rd2, %r2, 4; add.u64 %rd2, %rd2, %rd1;
    setp.ne.u32 %p1, %r1, 0; @%p1 bra counted;
    st.global.u32 [%rd2+256], %r2;
    )" + writer_fence +
         R"(
    atom.global.add.u32 %r3, [%rd1], 1;
    st.shared.u32 [last], %r3;
    counted:
    )" + reader +
         R"(
    ld.shared.u32 %r4, [last]; setp.ne.u32 %p2, %r4, 7; @%p2 bra end;
    and.b32 %r5, %r1, 7; mul.wide.u32 %rd3, %r5, 4; add.u64 %rd3, %rd3, %rd1; ld.global.u32 %r6, [%rd3+256];
    end:)";
}

TEST(SimulatedReleases, TheLastBlockReadsWhatAllHaveWritten) {
  expect_nothing(races_of(last_block("membar.gl;", "membar.gl; bar.sync 0;"), {64}, {8}));
  // The barrier stands for the reader's fence, as in NVIDIA's sample.
  expect_nothing(races_of(last_block("membar.gl;", "bar.sync 0;"), {64}, {8}));
  expect_nothing(races_of(last_block("fence.acq_rel.gpu;", "bar.sync 0;"), {64}, {8}));
  expect_nothing(races_of(last_block("fence.sc.sys;", "bar.sync 0;"), {64}, {8}));
  expect_race(races_of(last_block("", "membar.gl; bar.sync 0;"), {64}, {8}));
  // A fence between other kinds of accesses, and one for the own block only.
  expect_race(races_of(last_block("fence.proxy.alias;", "membar.gl; bar.sync 0;"), {64}, {8}));
  expect_race(races_of(last_block("membar.cta;", "membar.gl; bar.sync 0;"), {64}, {8}));
}

// All threads write; fences and a barrier stand before the count.
std::string all_write(const std::string& before) {
  return R"(.shared .align 4 .b8 last[4]; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r2, %r2, 64, %r1; mul.wide.u32 %rd2, %r2, 4;
    add.u64 %rd2, %rd2, %rd1; st.global.u32 [%rd2+256], %r2;
    )" + before +
         R"(
    setp.eq.u32 %p1, %r1, 0; @%p1 atom.global.add.u32 %r3, [%rd1], 1; @%p1 st.shared.u32 [last], %r3;
    bar.sync 0; ld.shared.u32 %r4, [last]; setp.ne.u32 %p2, %r4, 3; @%p2 bra end;
    mul.wide.u32 %rd3, %r1, 16; add.u64 %rd3, %rd3, %rd1; ld.global.v4.u32 {%r6, %r7, %r8, %r9}, [%rd3+256];
    end:)";
}

TEST(SimulatedReleases, FencesOfAllThreadsAreReleasedByOne) {
  expect_nothing(races_of(all_write("membar.gl; bar.sync 0;"), {64}, {4}));
  // Or one thread's after the barrier, which has made known to it what the others wrote.
  expect_nothing(races_of(all_write("bar.sync 0; membar.gl;"), {64}, {4}));
  expect_race(races_of(all_write("bar.sync 0;"), {64}, {4}));
  expect_race(races_of(all_write("membar.gl;"), {64}, {4}));
  // One thread's fence covers what it knows of its warp and of its block, and a later barrier passes it on.
  const std::string in_one =
      "and.b32 %r20, %r1, LANES; setp.eq.u32 %p3, %r20, 1; @%p3 membar.gl; bar.sync 0;";
  const std::string of_warp = replaced(in_one, "LANES", "31");
  const std::string of_block = replaced(in_one, "LANES", "63");
  expect_nothing(races_of(all_write("bar.warp.sync -1;" + of_warp), {64}, {4}));
  expect_race(races_of(all_write(of_warp), {64}, {4}));
  expect_nothing(races_of(all_write("bar.sync 0;" + of_block), {64}, {4}));
  expect_race(races_of(all_write("bar.warp.sync -1;" + of_block), {64}, {4}));
  // Lane 0 speaks for its warp, but not for the other one.
  expect_race(races_of(all_write("membar.gl; bar.warp.sync -1;"), {64}, {4}));
}

TEST(SimulatedReleases, AFenceOfAWarpIsReleasedByALane) {
  const std::string body = R"(mov.u32 %r2, %ctaid.x; mad.lo.u32 %r2, %r2, 32, %r1; mul.wide.u32 %rd2, %r2, 4;
    add.u64 %rd2, %rd2, %rd1; st.global.u32 [%rd2+256], %r2;
    BEFORE
    setp.eq.u32 %p1, %r1, 0; @!%p1 bra end;
    atom.global.add.u32 %r3, [%rd1], 1; setp.ne.u32 %p2, %r3, 3; @%p2 bra end; membar.gl;
    ld.global.v4.u32 {%r6, %r7, %r8, %r9}, [%rd1+256]; ld.global.v4.u32 {%r6, %r7, %r8, %r9}, [%rd1+384];
    end:)";
  expect_nothing(races_of(replaced(body, "BEFORE", "membar.gl; bar.warp.sync -1;"), {32}, {4}));
  expect_nothing(races_of(replaced(body, "BEFORE", "bar.warp.sync -1; membar.gl;"), {32}, {4}));
  expect_race(races_of(replaced(body, "BEFORE", "bar.warp.sync -1;"), {32}, {4}));
  expect_race(races_of(replaced(body, "BEFORE", "membar.gl;"), {32}, {4}));
}

// Block 0 publishes a value, the others wait for a flag.
std::string flag(const std::string& publish, const std::string& wait) {
  return R"(mov.u32 %r2, %ctaid.x; setp.ne.u32 %p1, %r2, 0; @%p1 bra wait;
    st.global.u32 [%rd1+256], 42;
    )" + publish +
         R"(
    bra end;
    wait: )" +
         wait + R"(
    ld.global.u32 %r4, [%rd1+256];
    end:)";
}

TEST(SimulatedReleases, AFlagHandsAValueOver) {
  const auto until = [](const std::string& load) {
    return load + " %r3, [%rd1]; setp.eq.u32 %p2, %r3, 0; @%p2 bra wait;";
  };
  const std::string publish = "membar.gl; st.volatile.global.u32 [%rd1], 1;";
  expect_nothing(races_of(flag(publish, until("ld.volatile.global.u32") + " membar.gl;"), {1}, {3}));
  expect_nothing(
      races_of(flag("st.release.gpu.global.u32 [%rd1], 1;", until("ld.acquire.gpu.global.u32")), {1}, {3}));
  expect_nothing(races_of(
      flag("fence.acq_rel.gpu; st.relaxed.gpu.global.u32 [%rd1], 1;", until("ld.acquire.gpu.global.u32")),
      {1}, {3}));
  // A fence of the block does not use up what one of the device may acquire.
  const std::string read = until("ld.volatile.global.u32");
  expect_nothing(races_of(flag(publish, read + " membar.cta; membar.gl;"), {1}, {3}));
  expect_race(races_of(flag(publish, read + " membar.cta;"), {1}, {3}));
  // A reduction does not read the flag.
  expect_race(races_of(flag(publish, "red.global.add.u32 [%rd1], 0; membar.gl;"), {1}, {3}));
  // Without the reader's fence, without the writer's, for the own block, and by a plain flag.
  expect_race(races_of(flag(publish, until("ld.volatile.global.u32")), {1}, {3}));
  expect_race(races_of(
      flag("st.volatile.global.u32 [%rd1], 1;", until("ld.volatile.global.u32") + " membar.gl;"), {1}, {3}));
  expect_race(
      races_of(flag("st.release.cta.global.u32 [%rd1], 1;", until("ld.acquire.gpu.global.u32")), {1}, {3}));
  expect_race(
      races_of(flag("st.release.gpu.global.u32 [%rd1], 1;", until("ld.acquire.cta.global.u32")), {1}, {3}));
  expect_race(
      races_of(flag("membar.gl; st.global.u32 [%rd1], 1;", until("ld.volatile.global.u32") + " membar.gl;"),
               {1}, {3}));
}

// A release pattern and an acquire pattern are those of one place, unless a fence is part of them.
TEST(SimulatedReleases, AnAccessReleasesOrAcquiresItsPlaceAlone) {
  const auto until = [](const std::string& load) {
    return load + " %r3, [%rd1]; setp.eq.u32 %p2, %r3, 0; @%p2 bra wait;";
  };
  const std::string acquire = until("ld.acquire.gpu.global.u32");
  const std::string relaxed = until("ld.relaxed.gpu.global.u32");
  const std::string release = "st.release.gpu.global.u32 [%rd1], 1;";
  const std::string elsewhere = "st.release.gpu.global.u32 [%rd1+8], 1; ";
  expect_race(races_of(flag(elsewhere + "st.relaxed.gpu.global.u32 [%rd1], 1;", acquire), {1}, {3}));
  expect_race(
      races_of(flag(elsewhere + "atom.relaxed.gpu.global.exch.b32 %r9, [%rd1], 1;", acquire), {1}, {3}));
  expect_nothing(races_of(flag(elsewhere + release, acquire), {1}, {3}));
  expect_race(races_of(flag(release, relaxed + " ld.acquire.gpu.global.u32 %r9, [%rd1+8];"), {1}, {3}));
  expect_nothing(races_of(flag(release, relaxed + " ld.acquire.gpu.global.u32 %r9, [%rd1];"), {1}, {3}));
  // A relaxed store to the place carries on with what its thread has released there, and no other thread's
  // does.
  expect_nothing(races_of(
      flag("st.release.gpu.global.u32 [%rd1], 0; st.relaxed.gpu.global.u32 [%rd1], 1;", acquire), {1}, {3}));
  // An acquiring access is no release, and a releasing one acquires nothing.
  expect_race(
      races_of(flag("ld.acquire.gpu.global.u32 %r9, [%rd1]; st.relaxed.gpu.global.u32 [%rd1], 1;", acquire),
               {1}, {3}));
  expect_race(races_of(flag(release, relaxed + " st.release.gpu.global.u32 [%rd1+8], 1;"), {1}, {3}));
}

TEST(SimulatedReleases, AFenceOfOneDirection) {
  const std::string store = "st.relaxed.gpu.global.u32 [%rd1], 1;";
  const std::string wait = "ld.relaxed.gpu.global.u32 %r3, [%rd1]; setp.eq.u32 %p2, %r3, 0; @%p2 bra wait; ";
  const auto with = [&](const std::string& writer, const std::string& reader) {
    return races_of(flag(writer + store, wait + reader), {1}, {3});
  };
  expect_nothing(with("fence.release.gpu;", "fence.acquire.gpu;"));
  expect_race(with("fence.acquire.gpu;", "fence.acquire.gpu;"));
  expect_race(with("fence.release.gpu;", "fence.release.gpu;"));
}

TEST(SimulatedReleases, AScopeOfAClusterOrdersNothingBetweenClusters) {
  const auto with = [&](const std::string& writer, const std::string& reader,
                        std::uint32_t blocks_of_cluster) {
    const std::string body =
        flag("st.release." + writer + ".global.u32 [%rd1], 1;",
             "ld.acquire." + reader + ".global.u32 %r3, [%rd1]; setp.eq.u32 %p2, %r3, 0; @%p2 bra wait;");
    Tools tools;
    tools.race = true;
    FakeDevice device;
    const std::uint64_t memory = device.allocate(std::vector<std::uint32_t>(4096));
    Launch launch = launch_of("k", {4}, {1}, Arguments(memory));
    launch.cluster = {blocks_of_cluster};
    return findings_of_launch(device, kernel_of(body), launch, tools, 0);
  };
  expect_nothing(with("cluster", "cluster", 4));
  expect_nothing(with("gpu", "gpu", 2));
  expect_race(with("cluster", "cluster", 2));
  expect_race(with("gpu", "cluster", 2));
  expect_race(with("cluster", "gpu", 1));
  expect_race(with("cta", "cta", 4));
}

// Each step of a chain needs its own scope alone.
TEST(SimulatedReleases, AScopeIsThatOfEachStep) {
  // Threads 0 and 32 of block 0, and block 1, as the first one or as the last one.
  const auto with = [&](const std::string& order, const std::string& first, const std::string& second) {
    std::string body = R"(mov.u32 %r2, %ctaid.x; and.b32 %r5, %r1, 31; setp.ne.u32 %p3, %r5, 0; @%p3 bra end;
      shr.u32 %r6, %r1, 5; mad.lo.u32 %r6, %r2, 2, %r6; setp.eq.u32 %p3, %r6, 3; @%p3 bra end;
      setp.eq.u32 %p3, %r6, FIRST; @%p3 bra first; setp.eq.u32 %p3, %r6, LAST; @%p3 bra last;
      middle: ld.acquire.ONE.global.u32 %r3, [%rd1]; setp.eq.u32 %p2, %r3, 0; @%p2 bra middle;
      st.release.TWO.global.u32 [%rd1+8], 1; bra end;
      first: st.global.u32 [%rd1+256], 42; st.release.ONE.global.u32 [%rd1], 1; bra end;
      last: ld.acquire.TWO.global.u32 %r3, [%rd1+8]; setp.eq.u32 %p2, %r3, 0; @%p2 bra last;
      ld.global.u32 %r4, [%rd1+256];
      end:)";
    for (const auto& [word, by] : {std::pair<std::string, std::string>{"FIRST", order.substr(0, 1)},
                                   {"LAST", order.substr(1)},
                                   {"ONE", first},
                                   {"ONE", first},
                                   {"TWO", second},
                                   {"TWO", second}})
      body = replaced(body, word, by);
    return races_of(body, {64}, {2});
  };
  const std::string block_first = "02";  // the last one is block 1
  const std::string block_last = "21";   // the first one is block 1
  expect_nothing(with(block_first, "cta", "gpu"));
  expect_race(with(block_first, "gpu", "cta"));
  expect_nothing(with(block_last, "gpu", "cta"));
  expect_race(with(block_last, "cta", "gpu"));
  expect_nothing(with(block_first, "gpu", "gpu"));
}

TEST(SimulatedReleases, ALockProtects) {
  const auto body = [](const std::string& lock, const std::string& unlock) {
    return "again: atom.global.cas.b32 %r3, [%rd1], 0, 1; setp.ne.u32 %p1, %r3, 0; @%p1 bra again; " + lock +
           "\nld.global.u32 %r4, [%rd1+256]; add.u32 %r4, %r4, 1; st.global.u32 [%rd1+256], %r4;\n" + unlock +
           " atom.global.exch.b32 %r5, [%rd1], 0;";
  };
  expect_nothing(races_of(body("membar.gl;", "membar.gl;"), {32}, {4}));
  expect_race(races_of(body("membar.gl;", ""), {32}, {4}));
  expect_race(races_of(body("", "membar.gl;"), {32}, {4}));
  expect_nothing(races_of(
      "again: atom.acquire.gpu.global.cas.b32 %r3, [%rd1], 0, 1; setp.ne.u32 %p1, %r3, 0; @%p1 bra again;\n"
      "ld.global.u32 %r4, [%rd1+256]; add.u32 %r4, %r4, 1; st.global.u32 [%rd1+256], %r4;\n"
      "atom.release.gpu.global.exch.b32 %r5, [%rd1], 0;",
      {32}, {4}));
}

TEST(SimulatedReleases, KnowledgeOfOtherBlocksIsPassedOn) {
  // Block 0 writes and sets flag 0; block 1 waits for it and sets flag 1; block 2 waits for that and reads.
  const std::string body =
      R"(mov.u32 %r2, %ctaid.x; setp.eq.u32 %p1, %r2, 1; @%p1 bra second; setp.eq.u32 %p1, %r2, 2;
    @%p1 bra third;
    st.global.u32 [%rd1+256], 42; st.release.gpu.global.u32 [%rd1], 1; bra end;
    second: ld.acquire.gpu.global.u32 %r3, [%rd1]; setp.eq.u32 %p2, %r3, 0; @%p2 bra second;
    st.ORDER.gpu.global.u32 [%rd1+4], 1; bra end;
    third: ld.acquire.gpu.global.u32 %r3, [%rd1+4]; setp.eq.u32 %p2, %r3, 0; @%p2 bra third;
    ld.global.u32 %r4, [%rd1+256];
    end:)";
  expect_nothing(races_of(replaced(body, "ORDER", "release"), {1}, {3}));
  expect_race(races_of(replaced(body, "ORDER", "relaxed"), {1}, {3}));
}

TEST(SimulatedReleases, KnowledgeOfOtherBlocksIsSharedWithinABlock) {
  // In block 1, thread 0 acquires what block 0 has released, and thread 32 hands it over to block 2.
  const std::string body =
      R"(mov.u32 %r2, %ctaid.x; setp.eq.u32 %p1, %r2, 1; @%p1 bra middle; setp.ne.u32 %p1, %r1, 0;
    @%p1 bra end; setp.eq.u32 %p1, %r2, 2; @%p1 bra third;
    st.global.u32 [%rd1+256], 42; st.release.gpu.global.u32 [%rd1], 1; bra end;
    middle: setp.eq.u32 %p3, %r1, 0; setp.eq.u32 %p4, %r1, 32; shr.u32 %r5, %r1, 5; setp.eq.u32 %p5, %r5, 0;
    setp.eq.u32 %p6, %r5, 1; @!%p3 bra joined;
    poll: ld.acquire.gpu.global.u32 %r3, [%rd1]; setp.eq.u32 %p2, %r3, 0; @%p2 bra poll;
    joined: MEET
    @%p4 st.ORDER.gpu.global.u32 [%rd1+4], 1; bar.sync 0; bra end;
    third: ld.acquire.gpu.global.u32 %r3, [%rd1+4]; setp.eq.u32 %p2, %r3, 0; @%p2 bra third;
    ld.global.u32 %r4, [%rd1+256];
    end:)";
  const auto with = [&](const std::string& meet, const std::string& order) {
    return races_of(replaced(replaced(body, "MEET", meet), "ORDER", order), {96}, {3});
  };
  expect_nothing(with("bar.sync 0;", "release"));
  expect_nothing(with("@%p5 bar.sync 1, 64; @%p6 bar.sync 1, 64;", "release"));
  expect_nothing(with("@%p5 bar.arrive 1, 64; @%p6 bar.sync 1, 64;", "release"));
  expect_nothing(with("@%p3 membar.gl; bar.sync 0;", "relaxed"));
  expect_race(with("", "release"));
  expect_race(with("bar.warp.sync -1;", "release"));
  expect_race(with("bar.sync 0;", "relaxed"));
}

TEST(SimulatedReleases, AStoreBeginsAnewAndAnAtomicAdditionCarriesOn) {
  // Block 0 publishes with 1; block 1 waits for that and writes 2 without a fence; block 2 reads that once it
  // is there.
  const std::string body =
      R"(mov.u32 %r2, %ctaid.x; setp.eq.u32 %p1, %r2, 1; @%p1 bra second; setp.eq.u32 %p1, %r2, 2;
    @%p1 bra third;
    st.global.u32 [%rd1+256], 42; membar.gl; atom.global.add.u32 %r3, [%rd1], 1; bra end;
    second: ld.relaxed.gpu.global.u32 %r3, [%rd1]; setp.eq.u32 %p2, %r3, 0; @%p2 bra second;
    WRITE st.relaxed.gpu.global.u32 [%rd1+4], 1; bra end;
    third: ld.relaxed.gpu.global.u32 %r3, [%rd1+4]; setp.eq.u32 %p2, %r3, 0; @%p2 bra third;
    ld.acquire.gpu.global.u32 %r3, [%rd1]; ld.global.u32 %r4, [%rd1+256];
    end:)";
  expect_nothing(races_of(replaced(body, "WRITE", "red.relaxed.gpu.global.add.u32 [%rd1], 1;"), {1}, {3}));
  expect_race(races_of(replaced(body, "WRITE", "st.relaxed.gpu.global.u32 [%rd1], 2;"), {1}, {3}));
}

TEST(SimulatedReleases, WhatIsReleasedLaterIsNotAcquired) {
  // Block 1 acquires what block 0 has released, and then waits for block 2 by a flag that it does not
  // acquire.
  const std::string body =
      R"(mov.u32 %r2, %ctaid.x; setp.eq.u32 %p1, %r2, 1; @%p1 bra second; setp.eq.u32 %p1, %r2, 2;
    @%p1 bra third;
    red.release.gpu.global.add.u32 [%rd1], 1; bra end;
    second: ld.acquire.gpu.global.u32 %r3, [%rd1]; setp.eq.u32 %p2, %r3, 0; @%p2 bra second;
    st.relaxed.gpu.global.u32 [%rd1+8], 1;
    again: ld.relaxed.gpu.global.u32 %r3, [%rd1+4]; setp.eq.u32 %p2, %r3, 0; @%p2 bra again;
    ACQUIRE
    ld.global.u32 %r4, [%rd1+256]; bra end;
    third: ld.relaxed.gpu.global.u32 %r3, [%rd1+8]; setp.eq.u32 %p2, %r3, 0; @%p2 bra third;
    st.global.u32 [%rd1+256], 42; red.release.gpu.global.add.u32 [%rd1], 1; st.relaxed.gpu.global.u32 [%rd1+4], 1;
    end:)";
  expect_race(races_of(replaced(body, "ACQUIRE", ""), {1}, {3}));
  expect_nothing(races_of(replaced(body, "ACQUIRE", "ld.acquire.gpu.global.u32 %r3, [%rd1];"), {1}, {3}));
}

TEST(SimulatedReleases, ThreadsOfABlockThroughSharedMemory) {
  const std::string body = R"(.shared .align 4 .b8 s[8]; setp.eq.u32 %p1, %r1, 32; setp.eq.u32 %p2, %r1, 0;
    @%p2 st.shared.u32 [s], 0; bar.sync 0; @%p1 bra wait; @!%p2 bra end;
    st.shared.u32 [s+4], 42; WRITER st.volatile.shared.u32 [s], 1; bra end;
    wait: ld.volatile.shared.u32 %r3, [s]; setp.eq.u32 %p3, %r3, 0; @%p3 bra wait;
    READER ld.shared.u32 %r4, [s+4];
    end:)";
  const auto with = [&](const std::string& writer, const std::string& reader) {
    return races_of(replaced(replaced(body, "WRITER", writer), "READER", reader), {64}, {2});
  };
  expect_nothing(with("membar.cta;", "membar.cta;"));
  expect_race(with("", "membar.cta;"));
  expect_race(with("membar.cta;", ""));
}

}  // namespace release_test
}  // namespace opgate::simulator::tests
