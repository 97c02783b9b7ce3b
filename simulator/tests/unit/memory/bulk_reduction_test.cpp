// Reductions in bulk: they do to each element what `red` does to one, and what the tools find around them.
#include <algorithm>

#include "both_ways.h"
#include "machine/memory/tensor_map.h"
#include "watched.h"

namespace opgate::simulator::tests {
namespace bulk_reduction_test {

constexpr std::size_t kWords = 32;
constexpr unsigned kBytes = 4 * kWords;

using Words = std::vector<std::uint32_t>;

// Numbers of all types among which are zeros, subnormal ones, large ones, infinities and NaN.
Words numbers(std::uint32_t seed) {
  Words all{0x00000000, 0x80000000, 0x00000001, 0x7f800000, 0xff800000, 0x7fc00000, 0x00010001, 0x7c007c00,
            0x7ff00000, 0xfff80000, 0xffffffff, 0x7fffffff, 0x3c003c00, 0x3f800000, 0x00000003, 0x80000001};
  for (std::uint32_t i = 0; all.size() < kWords; ++i) all.push_back((seed + i) * 0x9e3779b9u);
  std::rotate(all.begin(), all.begin() + seed % kWords, all.end());
  return all;
}

/// What a kernel makes of `numbers(3)`, with `numbers(8)` in the shared memory at %r2, and of `numbers(3)` in
/// the shared memory at %r3. %p9 is set in the first thread.
Ran ran_by(const std::string& body, bool has_clusters) {
  const std::string ptx = kernel_of(
      ".shared .align 128 .b8 given[128]; .shared .align 128 .b8 place[128]; .shared .align 8 .b64 done;\n"
      "mov.u32 %r2, given; mov.u32 %r3, place; mov.u32 %r4, done; setp.eq.u32 %p9, %r1, 0;\n"
      "shl.b32 %r5, %r1, 2; cvt.u64.u32 %rd9, %r5; add.u64 %rd10, %rd1, %rd9; add.u32 %r6, %r2, %r5; add.u32 "
      "%r7, %r3, %r5;\n"
      "ld.global.u32 %r8, [%rd10+128]; st.shared.u32 [%r6], %r8; ld.global.u32 %r8, [%rd10]; st.shared.u32 "
      "[%r7], %r8;\n"
      "@%p9 mbarrier.init.shared::cta.b64 [%r4], 1; fence.proxy.async; bar.sync 0;\n" +
      body + "\nbar.sync 0; ld.shared.u32 %r8, [%r7]; st.global.u32 [%rd10+128], %r8;");
  return run_both_ways(ptx, [&](FakeDevice& device, std::vector<std::uint64_t>& results) {
    Words memory = numbers(3);
    const Words given = numbers(8);
    memory.insert(memory.end(), given.begin(), given.end());
    results.push_back(device.allocate(memory));
    Launch launch = launch_of("k", {}, {kWords}, Arguments(results.front()));
    launch.has_clusters = has_clusters;
    return launch;
  });
}

std::vector<Words> made_by(const std::string& body) {
  const Ran ran = ran_by(body, /*has_clusters=*/true);
  expect_no_fault(ran.outcome);
  std::vector<Words> made(2, Words(kWords));
  std::memcpy(made[0].data(), ran.memory.front().data(), kBytes);
  std::memcpy(made[1].data(), ran.memory.front().data() + kBytes, kBytes);
  return made;
}

const std::string kWaitForGroup = "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n";
const std::string kWaitForBarrier =
    "@%p9 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r4], 128;\n"
    "wait: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r4], 0; @!%p1 bra wait;\n";

// The elements of the thread, one after the other: numbers of 16 bits are two, those of 64 bits are of every
// second thread.
std::string by_atomics(const std::string& space, const std::string& operation, unsigned bytes) {
  const std::string place = space == "global" ? "%rd10" : "%r7";
  const std::string red = "red." + space + "." + operation + " [" + place;
  if (bytes == 2)
    return "ld.shared.u16 %h1, [%r6]; " + red + "], %h1; ld.shared.u16 %h1, [%r6+2]; " + red + "+2], %h1;";
  if (bytes == 4) return "ld.shared.b32 %r9, [%r6]; " + red + "], %r9;";
  return "and.b32 %r9, %r1, 1; setp.eq.u32 %p2, %r9, 0; @%p2 ld.shared.b64 %rd11, [%r6]; @%p2 " + red +
         "], %rd11;";
}

unsigned bytes_in(const std::string& operation) {
  return operation.ends_with("64") ? 8 : operation.ends_with("16") ? 2 : 4;
}

TEST(SimulatedBulkReductions, InGlobalMemory) {
  for (const std::string operation :
       {"and.b32",  "and.b64",       "or.b32",         "or.b64",  "xor.b32", "xor.b64", "add.u32",
        "add.s32",  "add.u64",       "add.f64",        "inc.u32", "dec.u32", "min.u32", "min.s32",
        "min.u64",  "min.s64",       "min.f16",        "max.u32", "max.s32", "max.u64", "max.s64",
        "max.bf16", "add.noftz.f16", "add.noftz.bf16", "max.f16", "min.bf16"}) {
    const std::string copy = "@%p9 cp.reduce.async.bulk.global.shared::cta.bulk_group." + operation +
                             " [%rd1], [%r2], 128;\n" + kWaitForGroup;
    EXPECT_EQ(made_by(copy)[0], made_by(by_atomics("global", operation, bytes_in(operation)))[0])
        << operation;
  }
}

// As a card does, they keep subnormal numbers, as `red` does in shared memory alone.
TEST(SimulatedBulkReductions, KeepSubnormalNumbers) {
  const std::string copy =
      "@%p9 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%rd1], [%r2], 128;\n" + kWaitForGroup;
  EXPECT_EQ(made_by(copy)[0], made_by(by_atomics("shared", "add.f32", 4))[1]);
  EXPECT_NE(made_by(copy)[0], made_by(by_atomics("global", "add.f32", 4))[0]);
  const std::string of_few =
      "mov.u32 %r8, 0x100000; st.shared.u32 [%r6], %r8; mov.u32 %r8, 0x800000; st.global.u32 [%rd10], %r8;\n"
      "fence.proxy.async; bar.sync 0;\n";
  EXPECT_EQ(made_by(of_few + copy)[0], Words(kWords, 0x900000));
}

TEST(SimulatedBulkReductions, InSharedMemory) {
  for (const std::string operation : {"and.b32", "or.b32", "xor.b32", "add.u32", "add.s32", "add.u64",
                                      "inc.u32", "dec.u32", "min.u32", "min.s32", "max.u32", "max.s32"}) {
    const std::string copy =
        "@%p9 cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes." + operation +
        " [%r3], [%r2], 128, [%r4];\n" + kWaitForBarrier;
    EXPECT_EQ(made_by(copy)[1], made_by(by_atomics("shared", operation, bytes_in(operation)))[1])
        << operation;
  }
}

// As on a card. An explicit cluster of one block is enough.
TEST(SimulatedBulkReductions, InSharedMemoryNeedACluster) {
  const std::string type = "mbarrier::complete_tx::bytes";
  for (const std::string& instruction :
       {"cp.reduce.async.bulk.shared::cluster.shared::cta." + type + ".add.u32 [%r3], [%r2], 128, [%r4];",
        "red.async.relaxed.cluster.shared::cluster." + type + ".add.u32 [%r3], %r2, [%r4];",
        "st.async.weak.shared::cluster." + type + ".b32 [%r3], %r2, [%r4];"}) {
    expect_no_fault(ran_by("@%p9 " + instruction, /*has_clusters=*/true).outcome);
    const Outcome outcome = ran_by("@%p9 " + instruction, /*has_clusters=*/false).outcome;
    EXPECT_EQ(static_cast<int>(outcome.fault), static_cast<int>(Fault::illegal_instruction));
    EXPECT_NE(outcome.message.find("in a launch without clusters"), std::string::npos) << outcome.message;
  }
  expect_no_fault(
      ran_by("@%p9 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [%r2], 128;", false)
          .outcome);
}

TEST(SimulatedBulkReductions, CopiesBetweenPlacesInSharedMemory) {
  const std::string copy =
      "@%p9 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r3], [%r2], 128, "
      "[%r4];\n";
  EXPECT_EQ(made_by(copy + kWaitForBarrier)[1], numbers(8));
  EXPECT_EQ(made_by(copy)[1], numbers(3));
}

TEST(SimulatedBulkReductions, HappenWhenTheirThreadWaits) {
  const std::string copy =
      "@%p9 cp.reduce.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.xor.b32 [%rd1], [%r2], 128, "
      "%rd20;\n";
  const std::string look = "ld.volatile.global.u32 %r8, [%rd10]; st.shared.u32 [%r7], %r8;\n";
  EXPECT_EQ(made_by(copy + look)[1], numbers(3));
  EXPECT_NE(made_by(copy + kWaitForGroup + "bar.sync 0;\n" + look)[1], numbers(3));
}

// Two boxes of a tensor of 4 by 8 numbers, of which the first lies outside in part.
std::vector<Words> reduced_by_map(const std::string& operation, Type type) {
  const std::string ptx =
      ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 map) {\n.reg .pred "
      "%p<2>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .shared .align 128 .b8 box[64];\nld.param.u64 %rd1, [map]; "
      "mov.u32 %r1, box; mov.u32 "
      "%r2, %tid.x; shl.b32 %r3, %r2, 2; add.u32 %r3, %r3, %r1; add.u32 %r4, %r2, 100; st.shared.u32 [%r3], "
      "%r4; fence.proxy.async; bar.sync 0; setp.ne.u32 %p1, %r2, 0; @%p1 ret;\n"
      "cp.reduce.async.bulk.tensor.2d.global.shared::cta." +
      operation +
      ".tile.bulk_group [%rd1, {4, 3}], [%r1];\ncp.async.bulk.commit_group; "
      "cp.async.bulk.wait_group 0;\nret;\n}\n";
  const Ran ran = run_both_ways(ptx, [&](FakeDevice& device, std::vector<std::uint64_t>& results) {
    TensorMap map;
    map.address = device.allocate(Words(32, 7));
    map.strides = {0, 32};
    map.sizes = {8, 4};
    map.box = {8, 2};
    map.steps = {1, 1};
    map.rank = 2;
    map.type = type;
    map.mark = TensorMap::kMark;
    std::vector<unsigned char> bytes(TensorMap::kBytes);
    std::memcpy(bytes.data(), &map, sizeof(map));
    results = {map.address};
    return launch_of("k", {}, {16}, Arguments(device.allocate(bytes)));
  });
  if (ran.outcome.fault != Fault::none) return {};
  std::vector<Words> made{Words(32)};
  std::memcpy(made[0].data(), ran.memory.front().data(), 128);
  return made;
}

TEST(SimulatedBulkReductions, OfBoxesOfTensors) {
  Words expected(32, 7);
  for (std::uint32_t i = 0; i < 4; ++i) expected[28 + i] = 107 + i;
  EXPECT_EQ(reduced_by_map("add", Type::u32).at(0), expected);
  for (std::uint32_t i = 0; i < 4; ++i) expected[28 + i] = 7 ^ (100 + i);
  EXPECT_EQ(reduced_by_map("xor", Type::s32).at(0), expected);
  for (std::uint32_t i = 0; i < 4; ++i) expected[28 + i] = 7;
  EXPECT_EQ(reduced_by_map("min", Type::s32).at(0), expected);
  EXPECT_TRUE(reduced_by_map("min", Type::f32).empty());  // there is no such reduction
}

// Two blocks add to the same memory. Each thread writes what its block adds.
std::vector<Finding> found_in(
    const std::string& fence, const std::string& wait,
    const std::string& copy = "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32",
    const std::string& behind = "") {
  const std::string ptx = kernel_of(
      ".shared .align 128 .b8 given[128]; mov.u32 %r2, given; shl.b32 %r3, %r1, 2; add.u32 %r4, %r2, "
      "%r3; st.shared.u32 [%r4], %r1;\n" +
      fence +
      " bar.sync 0; setp.ne.u32 %p1, %r1, 0; cvt.u64.u32 %rd3, %r3; add.u64 %rd4, %rd1, %rd3;\n@!%p1 " +
      copy + " [%rd1], [%r2], 128;\ncp.async.bulk.commit_group;\n" + wait + behind);
  return findings_of(ptx, {2}, {32}, {.init = true, .race = true, .sync = true});
}

TEST(SimulatedBulkReductions, AreWatched) {
  const std::string fence = "fence.proxy.async;";
  const std::string wait = "cp.async.bulk.wait_group 0;\n";
  const std::string use = "bar.sync 0; st.shared.u32 [%r4], 5;\n";
  expect_nothing(found_in(fence, wait));
  expect_nothing(found_in(fence, wait, "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32", use));
  // Copies of two blocks that do not reduce, and what else writes there.
  expect_finding(found_in(fence, wait, "cp.async.bulk.global.shared::cta.bulk_group"), Finding::Kind::race,
                 "races with cp.async.bulk.global.shared::cta.bulk_group");
  expect_finding(found_in(fence, wait, "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32",
                          "st.global.u32 [%rd4], %r1;\n"),
                 Finding::Kind::race, "races with");
  expect_nothing(found_in(fence, wait, "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32",
                          "red.global.add.u32 [%rd4], %r1;\n"));
  expect_finding(found_in("", wait), Finding::Kind::race, "no fence.proxy.async");
  expect_finding(found_in(fence, "", "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32", use),
                 Finding::Kind::race, "a copy may happen at any time");
}

}  // namespace bulk_reduction_test
}  // namespace opgate::simulator::tests
