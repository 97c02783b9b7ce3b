// The tool `race`: what orders two accesses of one block, and what does not.
#include "watched.h"

namespace opgate::simulator::tests {
namespace race_test {

std::vector<Finding> races_of(const std::string& body, Extent block, Extent grid = {}) {
  Tools tools;
  tools.race = true;
  return findings_of(kernel_of(body), grid, block, tools);
}

void expect_race(const std::vector<Finding>& findings, const std::string& words = "races with") {
  expect_finding(findings, Finding::Kind::race, words);
}

// Each thread stores to shared memory and reads what another one has stored, `between` them.
std::string exchanged(const std::string& between, unsigned distance) {
  return ".shared .align 4 .b8 s[1024]; shl.b32 %r2, %r1, 2; mov.u32 %r3, s; add.u32 %r4, %r3, %r2;\n"
         "st.shared.u32 [%r4], %r1;\n" +
         between + "\nxor.b32 %r5, %r2, " + std::to_string(4 * distance) +
         "; add.u32 %r5, %r5, %r3; ld.shared.u32 %r6, [%r5];";
}

// As Triton lays out a small tensor: every warp loads each element, and the first one stores it.
const std::string& changed_in_place() {
  static const std::string body =
      "and.b32 %r2, %r1, 31; mul.wide.u32 %rd2, %r2, 4; add.u64 %rd3, %rd1, %rd2; ld.global.b32 %r3, "
      "[%rd3];\n"
      "add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r1, 32; @%p1 st.global.b32 [%rd3], %r3;";
  return body;
}

TEST(SimulatedRaces, CopiesOfAnElementInOneBlockAreNoRaceInTriton) {
  Tools tools;
  tools.race = true;
  const std::string ptx = kernel_of(changed_in_place());
  expect_nothing(findings_of(ptx, {}, {128}, tools, true));
  expect_finding(findings_of(ptx, {}, {128}, tools, false), Finding::Kind::race, "of the same block");
  // Blocks hold no copies for each other.
  expect_finding(findings_of(ptx, {3}, {128}, tools, true), Finding::Kind::race, "of block");
  // The element may be found by another register, as where two arguments are the same tensor.
  const std::string by_another =
      kernel_of(changed_in_place() + " add.u64 %rd4, %rd3, 0; ld.global.b32 %r4, [%rd4];");
  expect_nothing(findings_of(by_another, {}, {128}, tools, true));
  // A thread that stores what it has not loaded changes another element, whatever its value is.
  const std::string shifted =
      "mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2; ld.global.b32 %r3, [%rd3];";
  expect_finding(findings_of(kernel_of(shifted + " st.global.b32 [%rd3+4], %r3;"), {}, {64}, tools, true),
                 Finding::Kind::race, "of the same block");
  expect_nothing(findings_of(kernel_of(shifted + " st.global.b32 [%rd3], %r3;"), {}, {64}, tools, true));
}

// Two warps hold copies of 32 elements. The first one stores what each becomes, `between` the load and the
// store; then each warp stores `sum` to shared memory, and the first warp stores that of the second one.
std::string used_after_the_store(const std::string& between, const std::string& sum) {
  return ".shared .align 4 .b8 s[256]; and.b32 %r2, %r1, 31; mul.wide.u32 %rd2, %r2, 4; add.u64 %rd3, %rd1, "
         "%rd2; setp.lt.u32 %p1, %r1, 32; shl.b32 %r5, %r1, 2; mov.u32 %r6, s; add.u32 %r6, %r6, %r5;\n"
         "ld.global.b32 %r3, [%rd3]; " +
         between + " @%p1 st.global.b32 [%rd3], %r4;\n" + sum +
         " st.shared.b32 [%r6], %r7; bar.sync 0; @%p1 ld.shared.b32 %r8, [%r6+128];"
         " @%p1 st.global.b32 [%rd3+512], %r8;";
}

TEST(SimulatedRaces, CopiesThatAreUsedAfterTheirElementHasChangedAreARace) {
  Tools tools;
  tools.race = true;
  const auto races = [&](const std::string& between, const std::string& sum) {
    return findings_of(kernel_of(used_after_the_store(between, sum)), {}, {64}, tools, true);
  };
  const std::string increase = "add.u32 %r4, %r3, 1;";
  expect_finding(races(increase, "mov.b32 %r7, %r4;"), Finding::Kind::race,
                 "depend on whether other threads load this element");
  // A barrier orders the load and the store.
  expect_nothing(races(increase + " bar.sync 0;", "mov.b32 %r7, %r4;"));
  // What is used is another value; or the same for both values, as if an element were limited twice; or a
  // second load by the same register.
  expect_nothing(races(increase, "mov.b32 %r7, %r2;"));
  expect_nothing(races("max.u32 %r4, %r3, 7;", "mov.b32 %r7, %r4;"));
  expect_nothing(races(increase, "ld.global.b32 %r9, [%rd3]; mov.b32 %r7, %r2;"));
}

// As Triton reduces a small tensor: warps that hold copies of an element store its sum to one place.
TEST(SimulatedRaces, CopiesThatAreStoredToSharedMemoryAreNoRaceInTriton) {
  Tools tools;
  tools.race = true;
  const std::string declared = ".shared .align 4 .b8 s[4];";
  const std::string store = " st.shared.b32 [s], %r1;";
  expect_nothing(findings_of(kernel_of(declared + store), {}, {128}, tools, true));
  expect_finding(findings_of(kernel_of(declared + store), {}, {128}, tools, false), Finding::Kind::race,
                 "of the same block");
  // Another instruction stores another element.
  expect_finding(findings_of(kernel_of(declared + store + store), {}, {128}, tools, true),
                 Finding::Kind::race, "of the same block");
}

TEST(SimulatedRaces, ABarrierOrdersTheBlock) {
  expect_race(races_of(exchanged("", 64), {128}), ".shared.u32 races with ");
  expect_race(races_of(exchanged("", 1), {128}));
  expect_nothing(races_of(exchanged("bar.sync 0;", 64), {128}));
  expect_nothing(races_of(exchanged("barrier.sync 0;", 1), {128}));
  expect_nothing(races_of(exchanged("bar.red.popc.u32 %r20, 0, %p1;", 64), {128}));
}

TEST(SimulatedRaces, ABarrierOrdersWhatExitedThreadsHaveDone) {
  const std::string body =
      ".shared .align 4 .b8 s[4]; setp.eq.u32 %p1, %r1, 5; @%p1 st.shared.u32 [s], 1; @%p1 ret;\n";
  expect_nothing(races_of(body + "bar.sync 0; ld.shared.u32 %r2, [s];", {64}));
  expect_race(races_of(body + "ld.shared.u32 %r2, [s];", {64}));
}

TEST(SimulatedRaces, AWarpBarrierOrdersTheWarp) {
  expect_nothing(races_of(exchanged("bar.warp.sync -1;", 1), {128}));
  expect_race(races_of(exchanged("bar.warp.sync -1;", 32), {128}));
  // A shuffle brings threads together, and orders nothing in memory.
  expect_race(races_of(exchanged("shfl.sync.idx.b32 %r20, %r1, 0, 31, -1;", 1), {64}));
}

TEST(SimulatedRaces, AWarpBarrierOrdersTheLanesOfItsMask) {
  const std::string half =
      "and.b32 %r20, %r1, 16; setp.eq.u32 %p1, %r20, 0; selp.b32 %r21, 0xffff, 0xffff0000, %p1; "
      "bar.warp.sync "
      "%r21;";
  expect_nothing(races_of(exchanged(half, 1), {64}));
  expect_race(races_of(exchanged(half, 16), {64}));
}

TEST(SimulatedRaces, ANamedBarrierOrdersItsThreads) {
  const std::string pairs = "shr.u32 %r20, %r1, 6; add.u32 %r20, %r20, 1; bar.sync %r20, 64;";
  expect_nothing(races_of(exchanged(pairs, 32), {128}));
  expect_race(races_of(exchanged(pairs, 64), {128}));
}

TEST(SimulatedRaces, TheFirstGuessOfACompareAndSwap) {
  // old = *sum; do assumed = old, old = atomicCAS(sum, assumed, assumed + 1); while (old != assumed)
  const std::string add = R"(OLD
again: add.u32 %r3, %r2, 1; mov.u32 %r4, %r2; atom.global.cas.b32 %r2, [%rd1+PLACE], %r4, %r3;
    setp.ne.u32 %p1, %r2, %r4; @%p1 bra again;)";
  const auto with = [&](const std::string& old, const std::string& place) {
    std::string body = add;
    body.replace(body.find("OLD"), 3, old);
    return races_of(body.replace(body.find("PLACE"), 5, place), {64}, {2});
  };
  expect_nothing(with("ld.global.u32 %r2, [%rd1];", "0"));
  expect_nothing(with("ld.global.u32 %r2, [%rd1+4];", "4"));
  // Whose value is not compared, before or after the loop.
  expect_race(with("ld.global.u32 %r9, [%rd1]; ld.global.u32 %r2, [%rd1];", "0"), "ld.global.u32 races with");
  expect_race(races_of("ld.global.u32 %r5, [%rd1]; atom.global.cas.b32 %r2, [%rd1], 0, 1;", {64}),
              "races with");
  // Nothing looks whether what was loaded elsewhere, or in another size, still holds.
  expect_race(with("ld.global.u32 %r2, [%rd1]; ld.global.u8 %r7, [%rd1];", "0"), "ld.global.u8 races with");
  expect_race(races_of("ld.global.u32 %r2, [%rd1]; atom.global.exch.b32 %r3, [%rd1], %r2;", {64}),
              "races with");
}

TEST(SimulatedRaces, KnowledgeIsPassedOn) {
  // Warp 0 writes and meets warp 1, which then meets warp 2, which reads.
  const std::string chain = R"(.shared .align 4 .b8 s[4];
    setp.lt.u32 %p1, %r1, 32; setp.lt.u32 %p2, %r1, 64; setp.eq.u32 %p3, %r1, 0;
    @%p3 st.shared.u32 [s], %r1;
    @%p2 bar.sync 1, 64;
    @%p1 bra end;
    MIDDLE
    ld.shared.u32 %r6, [s];
    end:)";
  const auto with = [&](const std::string& middle) {
    std::string body = chain;
    return races_of(body.replace(body.find("MIDDLE"), 6, middle), {96});
  };
  expect_nothing(with("bar.sync 2, 64;"));
  expect_race(with(""));
}

TEST(SimulatedRaces, AnArrivalOrdersWhatCameBeforeIt) {
  const auto body = [](const std::string& before, const std::string& after) {
    return ".shared .align 4 .b8 s[4]; setp.ge.u32 %p1, %r1, 32; setp.eq.u32 %p3, %r1, 0; @%p1 bra "
           "consumer;\n" +
           before + " bar.arrive 1, 64; " + after +
           " bra end;\nconsumer: bar.sync 1, 64; ld.shared.u32 %r6, [s];\nend:";
  };
  const std::string store = "@%p3 st.shared.u32 [s], 7;";
  expect_nothing(races_of(body(store, ""), {64}));
  expect_race(races_of(body("", store), {64}));
}

TEST(SimulatedRaces, ReadsAreRememberedForLaterWriters) {
  // All read, then one writes.
  const auto body = [](const std::string& between) {
    return ".shared .align 4 .b8 s[4]; ld.shared.u32 %r6, [s];\n" + between +
           "\nsetp.eq.u32 %p3, %r1, WRITER; @%p3 st.shared.u32 [s], 7;";
  };
  for (const char* const writer : {"0", "5", "63"}) {
    const auto with = [&](const std::string& between) {
      std::string text = body(between);
      return races_of(text.replace(text.find("WRITER"), 6, writer), {64});
    };
    expect_race(with(""), "st.shared.u32 races with ld.shared.u32");
    expect_nothing(with("bar.sync 0;"));
  }
}

TEST(SimulatedRaces, AtomicAccessesDoNotRaceWithEachOther) {
  const std::string shared = ".shared .align 4 .b8 s[4]; ";
  expect_nothing(races_of(shared + "atom.shared.add.u32 %r6, [s], 1;", {64}));
  expect_race(races_of(shared + "atom.shared.add.u32 %r6, [s], 1; ld.shared.u32 %r7, [s];", {64}));
  expect_race(
      races_of(shared + "ld.shared.u32 %r7, [s]; add.u32 %r7, %r7, 1; st.shared.u32 [s], %r7;", {64}));
  expect_nothing(races_of("red.global.add.u32 [%rd1], 1;", {64}, {4}));
  expect_race(races_of("red.global.cta.add.u32 [%rd1], 1;", {64}, {4}));
  expect_nothing(races_of("red.global.cta.add.u32 [%rd1], 1;", {64}));
}

TEST(SimulatedRaces, AllElementsOfAnAtomicVectorAreAccessed) {
  const std::string add = "atom.global.add.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1], {%f5, %f6, %f7, %f8};";
  expect_nothing(races_of(add, {64}));
  expect_race(races_of(add + "ld.global.f32 %f9, [%rd1+12];", {64}), "atom.global.add.v4.f32");
}

TEST(SimulatedRaces, AnAtomicAccessDoesNotHideAPlainOne) {
  const auto body = [](const std::string& first, const std::string& between, const std::string& then) {
    return ".shared .align 4 .b8 s[4]; setp.eq.u32 %p1, %r1, 0;\n" + first + between + "\n" + then;
  };
  const std::string add = "atom.shared.add.u32 %r6, [s], 1;";
  const std::string store = "@%p1 st.shared.u32 [s], 0;";
  const std::string load = "@%p1 ld.shared.u32 %r7, [s];";
  const std::string relaxed = "@%p1 ld.relaxed.cta.shared.u32 %r7, [s];";
  const std::string others = "@!%p1 red.shared.add.u32 [s], 1;";
  const std::string meet = "bar.warp.sync -1;";
  // The first thread has added when the others do.
  expect_race(races_of(body(store, "", add), {32}), "atom.shared.add.u32 races with st.shared.u32");
  expect_nothing(races_of(body(store, meet, add), {32}));
  expect_race(races_of(body(load, "", add), {32}), "atom.shared.add.u32 races with ld.shared.u32");
  expect_nothing(races_of(body(load, meet, add), {32}));
  expect_race(races_of(body(load + relaxed, "", others), {32}),
              "red.shared.add.u32 races with ld.shared.u32");
  expect_nothing(races_of(body(load + relaxed, meet, others), {32}));
  expect_nothing(races_of(body(relaxed, "", others), {32}));
}

// "All st instructions, and atomic operations if they result in a write" are the write operations of PTX.
TEST(SimulatedRaces, ACompareAndSwapThatFailsOnlyReads) {
  const auto body = [](const std::string& expected) {
    return "setp.eq.u32 %p1, %r1, 0; @%p1 atom.global.cas.b32 %r2, [%rd1], " + expected +
           ", 1; @!%p1 ld.global.u32 %r3, [%rd1];";
  };
  expect_race(races_of(body("0"), {2}));
  expect_nothing(races_of(body("7"), {2}));
  expect_race(
      races_of("mov.u32 %r2, %ctaid.x; setp.eq.u32 %p1, %r2, 0; @%p1 atom.global.cas.b64 %rd2, [%rd1], "
               "0, 1; @!%p1 ld.global.u64 %rd3, [%rd1];",
               {1}, {2}));
  // And releases nothing: the store of the flag is relaxed.
  const auto released = [](const std::string& expected) {
    return "mov.u32 %r2, %ctaid.x; setp.ne.u32 %p1, %r2, 0; @%p1 bra wait;\n"
           "st.global.u32 [%rd1+256], 42; atom.release.gpu.global.cas.b32 %r3, [%rd1+8], " +
           expected +
           ", 1; st.relaxed.gpu.global.u32 [%rd1], 1; bra end;\n"
           "wait: ld.relaxed.gpu.global.u32 %r4, [%rd1]; setp.eq.u32 %p2, %r4, 0; @%p2 bra wait;\n"
           "ld.acquire.gpu.global.u32 %r5, [%rd1+8]; ld.global.u32 %r6, [%rd1+256];\nend:";
  };
  expect_nothing(races_of(released("0"), {1}, {2}));
  expect_race(races_of(released("7"), {1}, {2}));
}

// "X precedes Z in observation order, and Z precedes Y": at this place alone, and without any release.
TEST(SimulatedRaces, WhatAThreadHasSeenComesBeforeIt) {
  const auto body = [](const std::string& wait, const std::string& then) {
    return "mov.u32 %r2, %ctaid.x; setp.ne.u32 %p1, %r2, 0; @%p1 bra wait;\n"
           "st.relaxed.gpu.global.u32 [%rd1], 1; bra end;\nwait: " +
           wait + "\n" + then + "\nend:";
  };
  const std::string seen = "ld.relaxed.gpu.global.u32 %r4, [%rd1]; setp.eq.u32 %p2, %r4, 0; @%p2 bra wait;";
  const std::string failed =
      "atom.relaxed.gpu.global.cas.b32 %r4, [%rd1], 7, 8; setp.eq.u32 %p2, %r4, 0; @%p2 bra wait;";
  for (const std::string& wait : {seen, failed}) {
    expect_nothing(races_of(body(wait, "ld.global.u32 %r5, [%rd1];"), {1}, {2}));
    expect_nothing(races_of(body(wait, "st.global.u32 [%rd1], 0;"), {1}, {2}));
  }
  expect_race(races_of(body("", "ld.global.u32 %r5, [%rd1];"), {1}, {2}));
  // A weak load and one of the block see nothing, and other threads have not seen it.
  const std::string weak = "ld.global.u32 %r4, [%rd1]; setp.eq.u32 %p2, %r4, 0; @%p2 bra wait;";
  expect_race(races_of(body(weak, "st.global.u32 [%rd1], 0;"), {1}, {2}));
  const std::string of_block =
      "ld.relaxed.cta.global.u32 %r4, [%rd1]; setp.eq.u32 %p2, %r4, 0; @%p2 bra wait;";
  expect_race(races_of(body(of_block, "st.global.u32 [%rd1], 0;"), {1}, {2}));
  const std::string first_alone =
      "setp.eq.u32 %p2, %r1, 0; @!%p2 bra store; again: ld.relaxed.gpu.global.u32 %r4, "
      "[%rd1]; setp.eq.u32 %p2, %r4, 0; @%p2 bra again; bra end; store:";
  expect_race(races_of(body(first_alone, "st.global.u32 [%rd1], 7;"), {2}, {2}));
  // A barrier of the block passes it on.
  const auto handed_over = [&](const std::string& barrier) {
    return races_of(
        "mov.u32 %r2, %ctaid.x; setp.ne.u32 %p1, %r2, 0; @%p1 bra other;\n"
        "setp.eq.u32 %p2, %r1, 0; @%p2 st.relaxed.gpu.global.u32 [%rd1], 1; bra end;\n"
        "other: setp.ne.u32 %p2, %r1, 0; @%p2 bra meet;\n"
        "wait: ld.relaxed.gpu.global.u32 %r4, [%rd1]; setp.eq.u32 %p2, %r4, 0; @%p2 bra wait;\n"
        "meet: " +
            barrier + "setp.eq.u32 %p2, %r1, 33; @%p2 st.global.u32 [%rd1], 7;\nend:",
        {64}, {2});
  };
  expect_nothing(handed_over("bar.sync 0;"));
  expect_race(handed_over(""));
  // Nor has the thread seen what is written later.
  expect_race(races_of(body(seen,
                            "add.u32 %r4, %r4, 1; st.relaxed.gpu.global.u32 [%rd1], %r4; "
                            "ld.global.u32 %r5, [%rd1];"),
                       {1}, {4}));
}

TEST(SimulatedRaces, StoresOfTheSameValueAreNone) {
  const std::string shared = ".shared .align 4 .b8 s[4]; ";
  expect_nothing(races_of(shared + "st.shared.u32 [s], 1;", {64}));
  expect_race(races_of(shared + "st.shared.u32 [s], %r1;", {64}), "st.shared.u32 races with st.shared.u32");
  expect_nothing(races_of("st.global.v2.u32 [%rd1], {7, 8};", {64}, {3}));
  expect_race(races_of("st.global.v2.u32 [%rd1], {7, %r1};", {64}, {3}));
}

TEST(SimulatedRaces, VolatileSharedMemoryInAWarpIsNotLockStep) {
  const auto body = [](const std::string& between) {
    return ".shared .align 4 .b8 s[256]; shl.b32 %r2, %r1, 2; mov.u32 %r3, s; add.u32 %r4, %r3, %r2;\n"
           "st.volatile.shared.u32 [%r4], %r1; " +
           between + " xor.b32 %r5, %r2, 4; add.u32 %r5, %r5, %r3; ld.volatile.shared.u32 %r6, [%r5];";
  };
  expect_race(races_of(body(""), {32}));
  expect_nothing(races_of(body("bar.warp.sync -1;"), {32}));
}

TEST(SimulatedRaces, AVolatileLoadThatWaitsIsNotLockStep) {
  const auto body = [](const std::string& wait) {
    return ".shared .align 4 .b8 s[4]; setp.ne.u32 %p1, %r1, 0; @%p1 bra wait;\n"
           "st.volatile.shared.u32 [s], 1; bra end;\n"
           "wait: " +
           wait + "\nend:";
  };
  const std::string load = "ld.volatile.shared.u32 %r2, [s]; ";
  expect_nothing(races_of(body(load + "setp.eq.u32 %p2, %r2, 0; @%p2 bra wait;"), {32}));
  expect_race(races_of(body(load), {32}));
  // A loop that goes through an array, and one that stores, do not wait.
  expect_race(
      races_of(body("mov.u32 %r3, s; mov.u32 %r5, 0;\nagain: ld.volatile.shared.u32 %r2, [%r3]; add.u32 "
                    "%r3, %r3, 0; add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 2; @%p2 bra again;"),
               {32}));
  expect_race(
      races_of(body(load + "st.global.u32 [%rd1], 1; setp.eq.u32 %p2, %r2, 0; @%p2 bra wait;"), {32}));
}

TEST(SimulatedRaces, BytesAreToldApart) {
  const auto body = [](const std::string& shift) {
    return ".shared .align 4 .b8 s[256]; mov.u32 %r3, s; shr.u32 %r2, %r1, " + shift +
           "; add.u32 %r4, %r3, %r2; st.shared.u8 [%r4], %r1;";
  };
  expect_nothing(races_of(body("0"), {64}));
  expect_race(races_of(body("1"), {64}));
  // Neighbours by a word that overlaps.
  expect_race(
      races_of(".shared .align 4 .b8 s[8]; mov.u32 %r3, s; setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.u32 "
               "[%r3], -1; @!%p1 st.shared.u8 [%r3+2], 5;",
               {2}));
  expect_race(
      races_of("shl.b32 %r2, %r1, 1; cvt.u64.u32 %rd2, %r1; shl.b64 %rd2, %rd2, 1; add.u64 %rd2, %rd2, %rd1; "
               "st.global.u16 [%rd2], %r1; ld.global.u32 %r7, [%rd1];",
               {2}));
}

TEST(SimulatedRaces, BlocksHaveSharedMemoryOfTheirOwn) {
  expect_nothing(races_of(exchanged("bar.sync 0;", 1), {64}, {8}));
  expect_race(races_of("st.global.u32 [%rd1], %r1;", {2}, {1}));
  expect_race(races_of("mov.u32 %r2, %ctaid.x; st.global.u32 [%rd1], %r2;", {1}, {4}), "of block (");
}

TEST(SimulatedRaces, BlocksLeaveNothingBehindForTheNextOne) {
  const std::string first_block =
      ".shared .align 4 .b8 s[4]; mov.u32 %r2, %ctaid.x; setp.ne.u32 %p1, %r2, 0; ";
  // All threads of block 0 read. In block 1 only two do, of which the second one writes.
  expect_race(races_of(first_block + R"(@!%p1 ld.shared.u32 %r3, [s]; @!%p1 bra end;
    and.b32 %r4, %r1, 31; setp.ne.u32 %p2, %r4, 0; @%p2 bra end; ld.shared.u32 %r3, [s];
    setp.eq.u32 %p3, %r1, 32; @%p3 st.shared.u32 [s], 5;
    end:)",
                       {64}, {2}));
  // The threads of block 0 meet often, those of block 1 never.
  expect_race(races_of(first_block + R"(@!%p1 barrier.sync 1, 64; @!%p1 barrier.sync 1, 64;
    @%p1 st.shared.u32 [s], %r1;)",
                       {64}, {2}));
}

TEST(SimulatedRaces, GenericAddressesAreThoseOfTheirSpace) {
  const auto body = [](const std::string& between) {
    return ".shared .align 4 .b8 s[4]; mov.u64 %rd2, s; cvta.shared.u64 %rd2, %rd2; setp.eq.u32 %p1, %r1, 0; "
           "@%p1 "
           "st.u32 [%rd2], 3; " +
           between + " ld.shared.u32 %r6, [s];";
  };
  expect_race(races_of(body(""), {64}));
  expect_nothing(races_of(body("bar.sync 0;"), {64}));
}

// One warp reads before the other one stores, and that one reads after this one has stored.
TEST(SimulatedRaces, TwoAccessesAreOneFindingWhicheverComesFirst) {
  const std::vector<Finding> found = races_of(exchanged("", 32), {64});
  ASSERT_EQ(found.size(), 1u) << in_lines(found);
  EXPECT_GT(found[0].count, 32u);
}

TEST(SimulatedRaces, AFindingSaysWhereAndHowOften) {
  Tools tools;
  tools.race = true;
  FakeDevice device;
  const std::uint64_t memory = device.allocate(std::vector<std::uint32_t>(4));
  const std::string ptx = kernel_of(
      ".loc 1 7 3\nsetp.eq.u32 %p1, %r1, 0; @%p1 st.global.u32 [%rd1+8], 7;\n.loc 1 9 3\n@!%p1 ld.global.u32 "
      "%r2, "
      "[%rd1+8];",
      ".file 1 \"/src/sum.cu\"\n");
  const std::vector<Finding> found =
      findings_of_launch(device, ptx, launch_of("k", {}, {4}, Arguments(memory)), tools, 0);
  ASSERT_EQ(found.size(), 1u) << in_lines(found);
  EXPECT_EQ(found[0].count, 3u);
  EXPECT_EQ(found[0].kernel, "k");
  EXPECT_EQ(found[0].space, "global");
  EXPECT_EQ(found[0].address, memory + 8);
  EXPECT_EQ(found[0].bytes, 4u);
  EXPECT_EQ(found[0].place.location, "/src/sum.cu:9");
  EXPECT_EQ(found[0].place.thread.x, 1u);
  ASSERT_TRUE(found[0].other);
  EXPECT_EQ(found[0].other->location, "/src/sum.cu:7");
  EXPECT_EQ(found[0].other->instruction, "st.global.u32");
  EXPECT_EQ(found[0].other->thread.x, 0u);
}

// An instruction of its own reads the clock, in front of the store that names it.
TEST(SimulatedRaces, AnOperandThatIsComputedIsNoAccess) {
  expect_nothing(races_of("setp.eq.u32 %p1, %r1, 0; @%p1 st.global.u32 [%rd1], %clock;", {64}));
}

TEST(SimulatedRaces, AreLookedForOnlyWhereAsked) {
  Tools tools;
  tools.init = true;
  expect_nothing(findings_of(kernel_of("st.global.u32 [%rd1], %r1;"), {}, {64}, tools));
}

}  // namespace race_test
}  // namespace opgate::simulator::tests
