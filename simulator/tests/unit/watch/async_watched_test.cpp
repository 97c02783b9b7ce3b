// What the tools find in kernels from nvcc that use matrices, copies that are waited for, and barriers in
// shared memory. Each mistake is planted by leaving one instruction out.
#include "kernels/kernels.h"
#include "watched.h"

namespace opgate::simulator::tests {
namespace async_watched_test {

constexpr Tools kAllTools{.init = true, .race = true, .sync = true};

/// The kernels, of which the part from one entry to the next has `text` replaced once.
std::string replaced(const std::string& kernels, const std::string& entry, const std::string& text,
                     const std::string& by) {
  std::string ptx = kernels;
  const std::size_t begin = ptx.find(".entry " + entry + "(");
  const std::size_t at = ptx.find(text, begin);
  EXPECT_LT(at, ptx.find(".entry ", begin + 1)) << text;
  return ptx.replace(at, text.size(), by);
}

/// Runs a kernel in three seeds, which must agree on whether there is anything. `arguments` allocates what it
/// needs. What the last one finds.
template <class MakeArguments>
std::vector<Finding> found_in(const std::string& ptx, const std::string& kernel, Extent grid, Extent block,
                              MakeArguments make_arguments) {
  std::vector<Finding> findings;
  for (const std::uint64_t seed : {0, 1, 2}) {
    FakeDevice device;
    Launch launch = launch_of(kernel, grid, block, make_arguments(device));
    std::vector<Finding> found = findings_of_launch(device, ptx, launch, kAllTools, seed);
    EXPECT_TRUE(seed == 0 || found.empty() == findings.empty()) << "the seeds disagree";
    findings = std::move(found);
  }
  return findings;
}

std::uint64_t zeros(FakeDevice& device) { return device.allocate(std::vector<std::uint32_t>(4096)); }

std::vector<Finding> found_in_fragments(const std::string& ptx) {
  return found_in(ptx, "multiply_tiles", {}, {32}, [](FakeDevice& device) {
    return Arguments(zeros(device), zeros(device), zeros(device), 64);
  });
}

std::vector<Finding> found_in_chunks(const std::string& ptx, bool waits = true) {
  return found_in(ptx, "sum_chunks", {}, {32},
                  [&](FakeDevice& device) { return Arguments(zeros(device), zeros(device), 5, waits); });
}

std::vector<Finding> found_in_mma(const std::string& ptx) {
  return found_in(ptx, "multiply_by_mma", {2, 2}, {32}, [](FakeDevice& device) {
    return Arguments(zeros(device), zeros(device), zeros(device), 48, 16);
  });
}

std::vector<Finding> found_in_rounds(const std::string& ptx) {
  return found_in(ptx, "rotate_by_barrier", {2}, {64},
                  [](FakeDevice& device) { return Arguments(zeros(device), zeros(device), 5); });
}

std::vector<Finding> found_in_bulk(const std::string& ptx) {
  return found_in(ptx, "copy_in_bulk", {}, {64},
                  [](FakeDevice& device) { return Arguments(zeros(device), zeros(device)); });
}

std::vector<Finding> found_in_pipeline(const std::string& ptx, int tiles) {
  return found_in(ptx, "sum_of_tiles", {2}, {64},
                  [&](FakeDevice& device) { return Arguments(zeros(device), zeros(device), tiles); });
}

void expect_race(const std::vector<Finding>& findings, const std::string& words) {
  expect_finding(findings, Finding::Kind::race, words);
}

TEST(SimulatedAsyncMistakes, RightKernels) {
  expect_nothing(found_in_fragments(ptx::matrix));
  expect_nothing(found_in_chunks(ptx::matrix));
  expect_nothing(found_in_mma(ptx::matrix));
}

TEST(SimulatedAsyncMistakes, RightKernelsWithBarriersInSharedMemory) {
  expect_nothing(found_in_rounds(ptx::barrier));
}

TEST(SimulatedAsyncMistakes, RightKernelsWithBulkCopies) { expect_nothing(found_in_bulk(ptx::barrier)); }

TEST(SimulatedAsyncMistakes, AFragmentThatTwoWarpsStore) {
  expect_race(
      found_in(ptx::matrix, "multiply_tiles", {}, {64},
               [](FakeDevice& device) { return Arguments(zeros(device), zeros(device), zeros(device), 64); }),
      "wmma.store.d.sync.aligned.row.m16n16k16.global.f32 races with wmma.store.d.sync");
}

TEST(SimulatedAsyncMistakes, CopiesThatNobodyWaitsFor) {
  std::vector<Finding> found = found_in_chunks(ptx::matrix, /*waits=*/false);
  expect_finding(found, Finding::Kind::init, "of shared memory that was not written");
  expect_race(found, "cp.async.cg.shared.global races with ld.shared");
  found = found_in_mma(replaced(ptx::matrix, "multiply_by_mma", "cp.async.wait_group 0;", ""));
  expect_finding(found, Finding::Kind::init, "ldmatrix.sync.aligned.m8n8.x4.shared.b16 reads 16 bytes");
  expect_race(found, "cp.async.cg.shared.global races with ldmatrix");
}

TEST(SimulatedAsyncMistakes, AWaitForAnOlderGroup) {
  expect_race(found_in_chunks(replaced(ptx::matrix, "sum_chunks", "wait_group 1", "wait_group 2")),
              "cp.async.cg.shared.global races with ld.shared");
}

TEST(SimulatedAsyncMistakes, NoBarrierBehindAWait) {
  expect_race(found_in_chunks(replaced(ptx::matrix, "sum_chunks", "bar.sync \t0;", "")), "shared memory");
  expect_race(found_in_mma(replaced(ptx::matrix, "multiply_by_mma", "bar.warp.sync \t-1;", "")),
              "shared memory");
}

TEST(SimulatedAsyncMistakes, NoBarrierBetweenAReadAndTheNextCopy) {
  expect_race(
      found_in_mma(replaced(ptx::matrix, "multiply_by_mma", "bar.warp.sync \t-1;\n\tadd.s64", "add.s64")),
      "cp.async.cg.shared.global races with ldmatrix");
}

TEST(SimulatedAsyncMistakes, ABarrierInSharedMemoryThatNobodyWaitsFor) {
  expect_race(found_in_rounds(replaced(ptx::barrier, "rotate_by_barrier", "setp.eq.s32 \t%p3, %r22, 0;",
                                       "setp.ne.s32 \t%p3, %r22, %r22;")),
              "the same shared memory");
  expect_race(found_in_bulk(replaced(ptx::barrier, "copy_in_bulk", "setp.eq.s32 \t%p3, %r17, 0;",
                                     "setp.ne.s32 \t%p3, %r17, %r17;")),
              "ld.shared.u32 races with cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes");
}

TEST(SimulatedAsyncMistakes, ABulkCopyThatNobodyAsksFor) {
  const std::vector<Finding> found =
      found_in_bulk(replaced(ptx::barrier, "copy_in_bulk", "mbarrier.try_wait.shared.b64 p, [%r18], %rd19;",
                             "setp.eq.u32 p, %r18, %r18;"));
  expect_race(found, "mbarrier::complete_tx::bytes races with ");
  expect_finding(found, Finding::Kind::init, "ld.shared.u32 reads 4 bytes of shared memory");
}

TEST(SimulatedAsyncMistakes, ABarrierInSharedMemoryThatOthersDoNotKnow) {
  const std::string ptx = replaced(ptx::barrier, "rotate_by_barrier", "bar.sync \t0;", "");
  expect_race(found_in(ptx, "rotate_by_barrier", {}, {32},
                       [](FakeDevice& device) { return Arguments(zeros(device), zeros(device), 1); }),
              "mbarrier.arrive.shared::cta.b64 races with mbarrier.init.shared.b64");
}

TEST(SimulatedAsyncMistakes, ARelaxedArrival) {
  expect_race(found_in_rounds(replaced(ptx::barrier, "rotate_by_barrier", "mbarrier.arrive.shared",
                                       "mbarrier.arrive.relaxed.cta.shared")),
              "ld.shared.u32 races with st.shared.u32");
}

// Nothing but the objects orders the copies and the reads.
TEST(SimulatedAsyncMistakes, APipelineOfBulkCopies) {
  expect_nothing(found_in_pipeline(ptx::pipeline, 7));
  expect_race(found_in_pipeline(replaced(ptx::pipeline, "sum_of_tiles", "setp.eq.s32 \t%p5, %r29, 0;",
                                         "setp.ne.s32 \t%p5, %r29, %r29;"),
                                2),
              "the same shared memory");
  expect_race(
      found_in_pipeline(replaced(ptx::pipeline, "sum_of_tiles", "mbarrier.arrive.shared::cta.b64 _, [%r32]",
                                 "mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [%r32]"),
                        7),
      "mbarrier::complete_tx::bytes races with ld.shared.u32");
}

TEST(SimulatedAsyncMistakes, SharedMemoryThatABulkCopyStillReads) {
  const std::string wait = "cp.async.bulk.wait_group.read 0;";
  const std::string write = " st.shared.u32 [%r24], %r25;";
  expect_nothing(found_in_bulk(replaced(ptx::barrier, "copy_in_bulk", wait, wait + write)));
  expect_race(found_in_bulk(replaced(ptx::barrier, "copy_in_bulk", wait, write)),
              "cp.async.bulk.global.shared::cta.bulk_group races with st.shared.u32");
}

TEST(SimulatedAsyncMistakes, ResultsOfABulkCopyThatAreNotThereYet) {
  const std::string wait = "cp.async.bulk.wait_group.read 0;";
  const std::string read = " ld.global.u32 %r24, [%rd13];";
  expect_race(found_in_bulk(replaced(ptx::barrier, "copy_in_bulk", wait, wait + read)),
              "cp.async.bulk.global.shared::cta.bulk_group races with ld.global.u32");
  expect_nothing(
      found_in_bulk(replaced(ptx::barrier, "copy_in_bulk", wait, "cp.async.bulk.wait_group 0;" + read)));
}

// Each thread copies four bytes and reads those of another one, once all copies have arrived at the object.
TEST(SimulatedAsyncMistakes, ArrivalsOfCopies) {
  const std::string body = R"(.shared .align 8 .b8 object[8]; .shared .align 16 .b8 s[256];
    setp.eq.u32 %p1, %r1, 0; @%p1 mbarrier.init.shared.b64 [object], 64; bar.sync 0;
    mov.u32 %r2, s; shl.b32 %r3, %r1, 2; add.u32 %r4, %r2, %r3; cvt.u64.u32 %rd2, %r3; add.u64 %rd3, %rd1, %rd2;
    cp.async.ca.shared.global [%r4], [%rd3], 4;
    cp.async.mbarrier.arrive.noinc.shared.b64 [object];
    look: mbarrier.try_wait.parity.shared.b64 %p2, [object], 0; WAIT
    xor.b32 %r5, %r3, 128; add.u32 %r5, %r2, %r5; ld.shared.u32 %r6, [%r5];)";
  const auto with = [&](const std::string& wait) {
    std::string text = body;
    return findings_of(kernel_of(text.replace(text.find("WAIT"), 4, wait)), {2}, {64}, kAllTools);
  };
  expect_nothing(with("@!%p2 bra look;"));
  expect_race(with(""), "shared memory");
}

}  // namespace async_watched_test
}  // namespace opgate::simulator::tests
