// Clusters of blocks: their indices, each other's shared memory, and their barrier.
#include "both_ways.h"
#include "kernels/kernels.h"
#include "watched.h"

namespace opgate::simulator::tests {
namespace cluster_test {

constexpr std::size_t kWords = 128;

using Words = std::vector<std::uint32_t>;

Launch launch_in_clusters(const std::string& kernel, const Extent& grid, unsigned threads,
                          const Extent& cluster, const Arguments& arguments) {
  Launch launch = launch_of(kernel, grid, {threads}, arguments);
  launch.cluster = cluster;
  launch.has_clusters = true;
  launch.instruction_limit = 1'000'000;
  return launch;
}

struct Result {
  Outcome outcome;
  Words words;
};

/// What a kernel of one or two pointers leaves in 128 words, which begin as 0. The other memory counts from
/// 1000.
Result run_kernel(const std::string& kernel, const Extent& grid, unsigned threads, const Extent& cluster,
                  std::uint64_t seed = 0, const char* ptx = ptx::cluster) {
  const Ran ran = run_both_ways(ptx, [&](FakeDevice& device, std::vector<std::uint64_t>& results) {
    Words in(kWords);
    for (std::size_t i = 0; i < kWords; ++i) in[i] = static_cast<std::uint32_t>(1000 + i);
    results.push_back(device.allocate(Words(kWords)));
    const Arguments arguments = kernel == "handed_over" ? Arguments(results.front(), device.allocate(in))
                                                        : Arguments(results.front());
    Launch launch = launch_in_clusters(kernel, grid, threads, cluster, arguments);
    launch.order_seed = seed;
    return launch;
  });
  Result result{ran.outcome, Words(kWords)};
  std::memcpy(result.words.data(), ran.memory.front().data(), 4 * kWords);
  return result;
}

Words words_of(const std::string& kernel, const Extent& grid, unsigned threads, const Extent& cluster,
               std::size_t count, std::uint64_t seed = 0) {
  Result result = run_kernel(kernel, grid, threads, cluster, seed);
  expect_no_fault(result.outcome);
  result.words.resize(count);
  return result.words;
}

void expect_fault(const Outcome& outcome, Fault fault, const std::string& words) {
  EXPECT_EQ(static_cast<int>(outcome.fault), static_cast<int>(fault)) << outcome.message;
  EXPECT_NE(outcome.message.find(words), std::string::npos) << outcome.message;
}

TEST(SimulatedClusters, ReachEachOthersSharedMemory) {
  for (const std::uint64_t seed : {0, 1, 2}) {
    // Four blocks in a cluster of 2 by 2, in a grid of 4 by 2.
    const Words words = words_of("around", {4, 2}, 32, {2, 2}, 32, seed);
    const auto block_of = [](unsigned cluster, unsigned rank) {
      return 4 * (rank / 2) + 2 * cluster + rank % 2;
    };
    for (unsigned cluster = 0; cluster < 2; ++cluster) {
      for (unsigned rank = 0; rank < 4; ++rank) {
        const std::uint32_t* const of_block = &words[4 * block_of(cluster, rank)];
        EXPECT_EQ(of_block[0], block_of(cluster, (rank + 3) % 4));
        EXPECT_EQ(of_block[1], block_of(cluster, (rank + 2) % 4));
        EXPECT_EQ(of_block[2], rank + 400);
        EXPECT_EQ(of_block[3], rank + 100 * (rank % 2));
      }
    }
  }
}

TEST(SimulatedClusters, OfOneBlock) {
  EXPECT_EQ(words_of("around", {2}, 32, {}, 8), (Words{0, 0, 100, 0, 1, 1, 100, 0}));
}

TEST(SimulatedClusters, CountTogether) {
  EXPECT_EQ(words_of("counted", {8}, 64, {4}, 8), (Words{256, 0, 0, 0, 256, 0, 0, 0}));
  EXPECT_EQ(words_of("counted", {32}, 256, {16}, 17, 1)[16], 16u * 256);
}

TEST(SimulatedClusters, CopyToEachOther) {
  const Words words = words_of("handed_over", {4}, 32, {2}, 64);
  for (std::uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(words[i], 1031 - i);
    EXPECT_EQ(words[32 + i], 1033 - i);
  }
}

/// What each block finds in 16 bytes of its shared memory, once its `mbarrier` has counted `bytes` bytes
/// there: the words of all blocks. The first thread of each block executes `send` when all have an object at
/// %r3; %r2 is the address of the shared memory, which begins as 100 in each word, %r4 the rank of the block,
/// and %r5 and %r6 are the two addresses in the next block of the cluster.
Result received(const std::string& send, const std::string& bytes = "16") {
  const std::string body =
      ".shared .align 16 .b8 s[16]; .shared .b64 done; mov.u32 %r2, s; mov.u32 %r3, done;\n"
      "mov.u32 %r4, %cluster_ctarank; add.u32 %r7, %r4, 1; rem.u32 %r7, %r7, 2; mov.u32 %r8, 100;\n"
      "mapa.shared::cluster.u32 %r5, %r2, %r7; mapa.shared::cluster.u32 %r6, %r3, %r7;\n"
      "st.shared.v4.u32 [%r2], {%r8, %r8, %r8, %r8}; mbarrier.init.shared::cta.b64 [%r3], 1;\n"
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], " +
      bytes +
      ";\n"
      "barrier.cluster.arrive; barrier.cluster.wait;\n" +
      send +
      "\nlook: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r3], 0;\n@!%p2 bra look;\n"
      "mov.u32 %r9, %ctaid.x; mul.wide.u32 %rd2, %r9, 16; add.u64 %rd2, %rd2, %rd1;\n"
      "ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [%r2]; st.global.v4.u32 [%rd2], {%r10, %r11, %r12, %r13};\n"
      "barrier.cluster.arrive; barrier.cluster.wait;";
  Result result = run_kernel("k", {2}, 1, {2}, 0, kernel_of(body).c_str());
  result.words.resize(8);
  return result;
}

void expect_received(const std::string& send, const std::string& bytes, const Words& words) {
  const Result result = received(send, bytes);
  expect_no_fault(result.outcome);
  EXPECT_EQ(result.words, words) << send;
}

TEST(SimulatedClusters, SendValuesToEachOther) {
  const std::string type = "shared::cluster.mbarrier::complete_tx::bytes.";
  const std::string values =
      "add.u32 %r10, %r4, 1; add.u32 %r11, %r4, 3; add.u32 %r12, %r4, 5; mov.b64 %rd3, {%r10, %r11};\n";
  expect_received(values + "st.async.weak." + type + "b32 [%r5+4], %r10, [%r6];", "4",
                  {100, 2, 100, 100, 100, 1, 100, 100});
  expect_received(values + "st.async." + type + "v2.u64 [%r5], {%rd3, %rd3}, [%r6];", "16",
                  {2, 4, 2, 4, 1, 3, 1, 3});
  expect_received(values + "st.async." + type + "v4.s32 [%r5], {%r10, %r11, %r12, %r4}, [%r6];", "16",
                  {2, 4, 6, 1, 1, 3, 5, 0});
  expect_received(values + "red.async.relaxed.cluster." + type + "add.u32 [%r5+8], %r10, [%r6];", "4",
                  {100, 100, 102, 100, 100, 100, 101, 100});
  expect_received(values + "red.async.relaxed.cluster." + type + "min.s32 [%r5], %r11, [%r6];", "4",
                  {4, 100, 100, 100, 3, 100, 100, 100});
  // Before the object has counted the bytes, they have not arrived.
  EXPECT_EQ(
      static_cast<int>(received(values + "st.async." + type + "b32 [%r5], %r10, [%r6];", "8").outcome.fault),
      static_cast<int>(Fault::timeout));
}

TEST(SimulatedClusters, CopyToSeveralBlocks) {
  const std::string copy =
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster";
  const std::string source = "setp.eq.u32 %p3, %r4, 0; mov.u32 %r10, 7; mov.u32 %r11, 8; mov.u16 %h1, ";
  const std::string store = "; st.global.v4.u32 [%rd1+64], {%r10, %r11, %r10, %r11};\n@%p3 ";
  expect_received(source + "3" + store + copy + " [%r2], [%rd1+64], 16, [%r3], %h1;", "16",
                  {7, 8, 7, 8, 7, 8, 7, 8});
  expect_received(source + "1" + store + copy +
                      ".L2::cache_hint [%r2], [%rd1+64], 16, [%r3], %h1, %rd2;\n@%p3 " + copy +
                      " [%r2], [%rd1+64], 16, [%r3], 2;",
                  "16", {7, 8, 7, 8, 7, 8, 7, 8});
  expect_fault(received(source + "4" + store + copy + " [%r2], [%rd1+64], 16, [%r3], %h1;").outcome,
               Fault::trap, "block 2 of a cluster of 2");
}

TEST(SimulatedClusters, KnowTheirIndices) {
  const std::string ptx = kernel_of(
      "mov.u32 %r2, %ctaid.x; mul.wide.u32 %rd2, %r2, 16; add.u64 %rd2, %rd2, %rd1;\n"
      "mov.u32 %r3, %clusterid.x; mov.u32 %r4, %nclusterid.x; mov.u32 %r5, %cluster_nctaid.x; mov.pred %p1, "
      "%is_explicit_cluster; selp.u32 %r6, 1, 0, %p1; st.global.v4.u32 [%rd2], {%r3, %r4, %r5, %r6};");
  const Result result = run_kernel("k", {4}, 1, {2}, 0, ptx.c_str());
  expect_no_fault(result.outcome);
  EXPECT_EQ(Words(result.words.begin(), result.words.begin() + 16),
            (Words{0, 2, 2, 1, 0, 2, 2, 1, 1, 2, 2, 1, 1, 2, 2, 1}));
}

TEST(SimulatedClusters, WhatGoesWrong) {
  expect_fault(run_kernel("ends_early", {2}, 32, {2}).outcome, Fault::trap, "which has ended");
  expect_fault(run_kernel("some_never_arrive", {2}, 64, {2}).outcome, Fault::barrier,
               "waits at barrier.cluster.wait");
  const auto fault_of = [](const std::string& body) {
    return run_kernel("k", {2}, 1, {2}, 0, kernel_of(".shared .b32 s; mov.u32 %r2, s;" + body).c_str())
        .outcome;
  };
  expect_fault(fault_of("mapa.shared::cluster.u32 %r3, %r2, 2;"), Fault::trap,
               "of the block 2 of a cluster of 2");
  expect_fault(fault_of("ld.shared::cluster.u32 %r3, [%r2+67108864];"), Fault::trap,
               "block 3 of a cluster of 2");
  expect_fault(fault_of("mapa.shared::cluster.u32 %r3, %r2, 1; ld.shared::cluster.u32 %r4, [%r3+4];"),
               Fault::trap, "4 bytes at 0x4 of the shared memory");
  expect_fault(fault_of("barrier.cluster.arrive; barrier.cluster.arrive;"), Fault::trap,
               "has arrived and not waited");
  expect_fault(fault_of("barrier.cluster.wait;"), Fault::trap, "has not arrived");
}

/// What the tools find in three seeds, which must agree on whether there is anything.
std::vector<Finding> found_in(const std::string& kernel, const std::string& ptx = ptx::cluster) {
  std::vector<Finding> findings;
  for (const std::uint64_t seed : {0, 1, 2}) {
    FakeDevice device;
    const Launch launch = launch_in_clusters(kernel, {4}, 64, {2}, Arguments(device.allocate(Words(kWords))));
    std::vector<Finding> found =
        findings_of_launch(device, ptx, launch, {.init = true, .race = true, .sync = true}, seed);
    EXPECT_TRUE(seed == 0 || found.empty() == findings.empty()) << "the seeds disagree";
    findings = std::move(found);
  }
  return findings;
}

TEST(SimulatedClusterMistakes, RightKernels) {
  expect_nothing(found_in("around"));
  expect_nothing(found_in("counted"));
}

TEST(SimulatedClusterMistakes, SharedMemoryOfAnotherBlockBeforeTheBarrier) {
  const std::vector<Finding> found = found_in("reads_before_the_barrier");
  expect_finding(found, Finding::Kind::race, "of block (");
  expect_finding(found, Finding::Kind::race, "both access the same shared memory");
}

// Each block stores to global and to its own shared memory, and reads what the other one has stored.
std::string exchanged(const std::string& barrier) {
  return kernel_of(
      ".shared .b32 s; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %cluster_ctarank; xor.b32 %r4, %r3, 1; xor.b32 "
      "%r5, "
      "%r2, 1; mul.wide.u32 %rd2, %r2, 4; mul.wide.u32 %rd3, %r5, 4; add.u64 %rd2, %rd2, %rd1; add.u64 %rd3, "
      "%rd3, %rd1; mov.u32 %r6, s; setp.ne.u32 %p1, %r1, 0;\n@!%p1 st.global.u32 [%rd2], %r2; @!%p1 "
      "st.shared.u32 [%r6], %r2;\n" +
      barrier +
      "mapa.shared::cluster.u32 %r7, %r6, %r4; ld.global.u32 %r8, [%rd3]; ld.shared::cluster.u32 %r9, "
      "[%r7];\n"
      "setp.eq.u32 %p3, %r9, 77; @%p3 bra end; end: barrier.cluster.arrive; barrier.cluster.wait;");
}

TEST(SimulatedClusterMistakes, WhatTheBarrierOrders) {
  const std::string wait = "barrier.cluster.wait.aligned;\n";
  expect_nothing(found_in("k", exchanged("barrier.cluster.arrive.release.aligned; " + wait)));
  for (const std::string barrier :
       {"", "bar.sync 0;", "barrier.cluster.arrive.relaxed; barrier.cluster.wait;"}) {
    const std::vector<Finding> found = found_in("k", exchanged(barrier));
    expect_finding(found, Finding::Kind::race, "both access the same shared memory");
    expect_finding(found, Finding::Kind::race, "both access the same global memory");
  }
  // A relaxed arrival releases what a fence has made ready, if the fence reaches the cluster.
  const auto fenced = [&](const std::string& fence) {
    return found_in("k", exchanged(fence + " barrier.cluster.arrive.relaxed; " + wait));
  };
  expect_nothing(fenced("fence.acq_rel.cluster;"));
  expect_nothing(fenced("fence.release.gpu;"));
  expect_finding(fenced("fence.acq_rel.cta;"), Finding::Kind::race, "both access the same shared memory");
  expect_finding(fenced("fence.acquire.cluster;"), Finding::Kind::race, "both access the same shared memory");
  // Many phases, of which the last one orders what came before them.
  const std::string rounds =
      "mov.u32 %r10, 0; again: barrier.cluster.arrive; " + wait +
      "bar.sync 0; add.u32 %r10, %r10, 1; setp.lt.u32 %p2, %r10, 20; @%p2 bra again;\n";
  expect_nothing(found_in("k", exchanged(rounds)));
}

TEST(SimulatedClusterMistakes, MemoryThatNoBlockHasWritten) {
  std::string ptx = exchanged("barrier.cluster.arrive; barrier.cluster.wait;");
  const std::string store = "@!%p1 st.shared.u32 [%r6], %r2;";
  const std::vector<Finding> found = found_in("k", ptx.erase(ptx.find(store), store.size()));
  expect_finding(found, Finding::Kind::init, "reads 4 bytes of shared memory that was not written");
}

TEST(SimulatedClusterMistakes, WhatTheToolsDoNotFollow) {
  FakeDevice device;
  const std::uint64_t memory = device.allocate(Words(kWords));
  Launch launch = launch_in_clusters("handed_over", {2}, 32, {2}, Arguments(memory, memory));
  Observer observer({.race = true});
  launch.observer = &observer;
  expect_fault(Module::parse(ptx::cluster)->run(launch, device), Fault::unsupported,
               "in another block of the cluster while tools watch");
  launch.kernel = "k";
  launch.parameters = Arguments(memory).bytes();
  for (const std::string instruction :
       {"st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r1], %r2, [%r3];",
        "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r1], %r2, [%r3];",
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r1], [%rd1], "
        "16, "
        "[%r3], %h1;"}) {
    expect_fault(Module::parse(kernel_of(instruction))->run(launch, device), Fault::unsupported,
                 instruction.substr(0, 8));
  }
}

}  // namespace cluster_test
}  // namespace opgate::simulator::tests
