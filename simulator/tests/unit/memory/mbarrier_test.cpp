// mbarrier: phases, arrivals and bytes, and the copies that arrive there.
#include <numeric>

#include "both_ways.h"

namespace opgate::simulator::tests {
namespace mbarrier_test {

// Words 0 to 63 of the memory are the result, words 64 to 127 hold 1000 and more. %r2 is the address of an
// object in 128 bytes of shared memory, of which those from 64 on are zeros at first.
std::string kernel(const std::string& body) {
  return kernel_of(R"(.shared .align 16 .b8 s[128];
    mov.u32 %r2, s; mul.wide.u32 %rd20, %r1, 4; add.u64 %rd20, %rd20, %rd1;
    setp.ne.u32 %p9, %r1, 0; @%p9 bra begin;
    mov.b64 %rd21, 0; st.shared.v2.b64 [%r2+64], {%rd21, %rd21}; st.shared.v2.b64 [%r2+80], {%rd21, %rd21};
    begin:)" + body);
}

struct Result {
  Outcome outcome;
  std::vector<std::uint32_t> words;
};

Result run_kernel(const std::string& body, unsigned threads = 1, unsigned blocks = 1) {
  const Ran ran = run_both_ways(kernel(body), [&](FakeDevice& device, std::vector<std::uint64_t>& results) {
    std::vector<std::uint32_t> memory(128);
    std::iota(memory.begin() + 64, memory.end(), 1000u);
    results.push_back(device.allocate(memory));
    Launch launch = launch_of("k", {blocks}, {threads}, Arguments(results.front()));
    launch.instruction_limit = 1'000'000;
    return launch;
  });
  Result result{ran.outcome, std::vector<std::uint32_t>(128)};
  std::memcpy(result.words.data(), ran.memory.front().data(), 512);
  return result;
}

std::vector<std::uint32_t> words_of(const std::string& body, std::size_t count, unsigned threads = 1) {
  Result result = run_kernel(body, threads);
  expect_no_fault(result.outcome);
  result.words.resize(count);
  return result.words;
}

void expect_fault(const std::string& body, Fault fault, const std::string& words) {
  const Outcome outcome = run_kernel(body).outcome;
  EXPECT_EQ(static_cast<int>(outcome.fault), static_cast<int>(fault)) << outcome.message;
  EXPECT_NE(outcome.message.find(words), std::string::npos) << outcome.message;
}

// Stores 1 if the phase of this parity is complete.
std::string look(int parity, int word) {
  return "mbarrier.test_wait.parity.shared.b64 %p1, [%r2], " + std::to_string(parity) +
         "; selp.u32 %r9, 1, 0, %p1; st.global.u32 [%rd1+" + std::to_string(4 * word) + "], %r9;\n";
}

using Words = std::vector<std::uint32_t>;

TEST(SimulatedMbarriers, APhaseEndsWithTheLastArrival) {
  EXPECT_EQ(words_of("mbarrier.init.shared.b64 [%r2], 3;" + look(0, 0) + look(1, 1) +
                         "mbarrier.arrive.shared.b64 %rd2, [%r2]; "
                         "mbarrier.arrive.release.cta.shared::cta.b64 _, [%r2], 1;" +
                         look(0, 2) + "mbarrier.arrive.shared.b64 %rd3, [%r2];" + look(0, 3) + look(1, 4) +
                         // The next phase begins with as many.
                         "mbarrier.arrive.shared.b64 %rd4, [%r2], 3;" + look(0, 5) + look(1, 6),
                     7),
            (Words{0, 1, 0, 1, 0, 0, 1}));
}

TEST(SimulatedMbarriers, StatesOfArrivals) {
  const std::string body = R"(mbarrier.init.shared.b64 [%r2], 2;
    mbarrier.arrive.shared.b64 %rd2, [%r2]; mbarrier.pending_count.b64 %r3, %rd2; st.global.u32 [%rd1], %r3;
    mbarrier.test_wait.shared.b64 %p1, [%r2], %rd2; selp.u32 %r3, 1, 0, %p1; st.global.u32 [%rd1+4], %r3;
    mbarrier.arrive.noComplete.shared.b64 %rd3, [%r2], 0; mbarrier.arrive.shared.b64 %rd3, [%r2];
    mbarrier.pending_count.b64 %r3, %rd3; st.global.u32 [%rd1+8], %r3;
    mbarrier.try_wait.acquire.cta.shared::cta.b64 %p1, [%r2], %rd2, 1000; selp.u32 %r3, 1, 0, %p1; st.global.u32 [%rd1+12], %r3;
    mbarrier.arrive.shared.b64 %rd4, [%r2];
    mbarrier.test_wait.shared.b64 %p1, [%r2], %rd4; selp.u32 %r3, 1, 0, %p1; st.global.u32 [%rd1+16], %r3;)";
  EXPECT_EQ(words_of(body, 5), (Words{2, 0, 1, 1, 0}));
}

TEST(SimulatedMbarriers, AThreadThatLeavesIsNotAwaitedAgain) {
  EXPECT_EQ(words_of("mbarrier.init.shared.b64 [%r2], 2; mbarrier.arrive_drop.shared.b64 %rd2, [%r2]; "
                     "mbarrier.arrive.shared.b64 %rd2, [%r2];" +
                         look(0, 0) + "mbarrier.arrive.shared.b64 %rd2, [%r2];" + look(1, 1),
                     2),
            (Words{1, 1}));
}

TEST(SimulatedMbarriers, APhaseWaitsForBytes) {
  EXPECT_EQ(
      words_of("mbarrier.init.shared.b64 [%r2], 1; mbarrier.arrive.expect_tx.shared.b64 %rd2, [%r2], 100;" +
                   look(0, 0) + "mbarrier.complete_tx.relaxed.cta.shared.b64 [%r2], 60;" + look(0, 1) +
                   "mbarrier.complete_tx.shared.b64 [%r2], 40;" + look(0, 2) +
                   // Bytes may come before they are announced.
                   "mbarrier.complete_tx.shared.b64 [%r2], 8; mbarrier.expect_tx.shared.b64 [%r2], 16; "
                   "mbarrier.arrive.shared.b64 %rd2, [%r2];" +
                   look(1, 3) + "mbarrier.complete_tx.shared.b64 [%r2], 8;" + look(1, 4),
               5),
      (Words{0, 0, 1, 0, 1}));
}

// Threads hand a value round. All of them wait in each phase, at a generic address.
TEST(SimulatedMbarriers, ThreadsMeet) {
  const std::string body = R"(
    @!%p9 mbarrier.init.shared.b64 [%r2], 40; bar.sync 0;
    cvt.u64.u32 %rd5, %r2; cvta.shared.u64 %rd5, %rd5; mov.u32 %r3, 0; mov.u32 %r4, %r1;
    add.u32 %r5, %r1, 1; rem.u32 %r5, %r5, 40; mul.wide.u32 %rd6, %r5, 4; add.u64 %rd6, %rd6, %rd1;
    round: st.volatile.global.u32 [%rd20], %r4; mbarrier.arrive.b64 %rd7, [%rd5];
    wait1: mbarrier.try_wait.b64 %p1, [%rd5], %rd7; @!%p1 bra wait1;
    ld.volatile.global.u32 %r4, [%rd6]; mbarrier.arrive.b64 %rd7, [%rd5];
    wait2: mbarrier.test_wait.b64 %p1, [%rd5], %rd7; @!%p1 bra wait2;
    add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, 5; @%p2 bra round;
    st.global.u32 [%rd20], %r4;)";
  const Words words = words_of(body, 40, 40);
  for (std::uint32_t i = 0; i < 40; ++i) EXPECT_EQ(words[i], (i + 5) % 40);
}

const std::string kLoad =
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2+64], [%rd1+256], 32, [%r2];\n";
const std::string kRead =
    "ld.shared.u32 %r3, [%r2+64]; ld.shared.u32 %r4, [%r2+92]; st.global.v2.u32 [%rd1], {%r3, %r4};\n";
const std::string kWait = "wait: mbarrier.try_wait.parity.shared.b64 %p1, [%r2], 0; @!%p1 bra wait;\n";

TEST(SimulatedMbarriers, BulkCopiesArrive) {
  const std::string begin =
      "mbarrier.init.shared.b64 [%r2], 1; fence.proxy.async; fence.mbarrier_init.release.cluster;" + kLoad +
      "mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 32;\n";
  EXPECT_EQ(words_of(begin + kWait + kRead, 2), (Words{1000, 1007}));
  // Without waiting, and after a look that was in vain, the old bytes are there.
  EXPECT_EQ(words_of(begin + kRead, 2), (Words{0, 0}));
  EXPECT_EQ(
      words_of(begin + "ld.shared.u32 %r3, [%r2+64]; mbarrier.test_wait.parity.shared.b64 %p1, [%r2], 0; "
                       "selp.u32 %r4, 1, 0, %p1; st.global.v2.u32 [%rd1], {%r3, %r4};",
               2),
      (Words{0, 0}));
  // More bytes are announced than come.
  std::string too_many = begin;
  too_many.replace(begin.rfind("32;"), 3, "48;");
  EXPECT_EQ(static_cast<int>(run_kernel(too_many + kWait).outcome.fault), static_cast<int>(Fault::timeout));
}

TEST(SimulatedMbarriers, EachWaitIsForOneObject) {
  const std::string second =
      "mbarrier.init.shared.b64 [%r2+8], 1; mbarrier.arrive.expect_tx.shared.b64 _, [%r2+8], 16;"
      "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r2+96], [%rd1+384], 16, [%r2+8];";
  const std::string report = "ld.shared.u32 %r5, [%r2+96]; st.global.u32 [%rd1+8], %r5;";
  const std::string first =
      "st.shared.u32 [%r2+96], 5; mbarrier.init.shared.b64 [%r2], 1; mbarrier.arrive.expect_tx.shared.b64 _, "
      "[%r2], 32;" +
      kLoad;
  EXPECT_EQ(words_of(first + second + kWait + kRead + report, 3), (Words{1000, 1007, 5}));
  EXPECT_EQ(words_of(first + second +
                         "again: mbarrier.try_wait.parity.shared.b64 %p2, [%r2+8], 0; @!%p2 bra again;" +
                         kRead + report,
                     3),
            (Words{0, 0, 1032}));
}

// The first block ends without waiting.
TEST(SimulatedMbarriers, CopiesOfAnotherBlockDoNotArrive) {
  Result result = run_kernel(
      "mov.u32 %r5, %ctaid.x; setp.eq.u32 %p5, %r5, 1;"
      "mbarrier.init.shared.b64 [%r2], 1; @!%p5 mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 32;\n@%p5 bra "
      "second;" +
          kLoad + "ret; second:" + look(0, 2) + look(0, 3) + kRead,
      1, 2);
  expect_no_fault(result.outcome);
  result.words.resize(4);
  EXPECT_EQ(result.words, (Words{0, 0, 0, 0}));
}

TEST(SimulatedMbarriers, BulkCopiesToGlobalMemory) {
  const std::string begin = R"(mov.u32 %r3, 7; st.shared.u32 [%r2+64], %r3; mov.u64 %rd3, 5;
    cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%rd1], [%r2+64], 16, %rd3; cp.async.bulk.commit_group;)";
  const std::string change = "mov.u32 %r3, 8; st.shared.u32 [%r2+64], %r3;";
  const std::string report = "ld.volatile.global.u32 %r4, [%rd1]; st.global.u32 [%rd1+32], %r4;";
  const auto result = [&](const std::string& wait) {
    const Words words = words_of(begin + wait + change + report, 9);
    return Words{words[0], words[8]};
  };
  EXPECT_EQ(result("cp.async.bulk.wait_group 0;"), (Words{7, 7}));
  // Only the source has been read: it may change, but the copy is not there yet.
  EXPECT_EQ(result("cp.async.bulk.wait_group.read 0;"), (Words{7, 0}));
  // The source changes before it is read.
  EXPECT_EQ(result(""), (Words{8, 0}));
  EXPECT_EQ(result("cp.async.bulk.wait_group 1;"), (Words{8, 0}));
}

TEST(SimulatedMbarriers, SmallCopiesArrive) {
  const std::string begin =
      "cp.async.cg.shared.global [%r2+64], [%rd1+256], 16; cp.async.cg.shared.global [%r2+80], [%rd1+272], "
      "16;";
  EXPECT_EQ(words_of("mbarrier.init.shared.b64 [%r2], 1;" + begin +
                         "cp.async.mbarrier.arrive.noinc.shared.b64 [%r2];" + kWait + kRead,
                     2),
            (Words{1000, 1007}));
  EXPECT_EQ(words_of("mbarrier.init.shared.b64 [%r2], 1;" + begin +
                         "cp.async.mbarrier.arrive.noinc.shared.b64 [%r2];" + kRead,
                     2),
            (Words{0, 0}));
  // Without noinc the arrival is one more.
  EXPECT_EQ(
      words_of("mbarrier.init.shared.b64 [%r2], 1;" + begin +
                   "cp.async.mbarrier.arrive.shared::cta.b64 [%r2]; mbarrier.arrive.shared.b64 _, [%r2];" +
                   kWait + kRead,
               2),
      (Words{1000, 1007}));
  EXPECT_EQ(static_cast<int>(run_kernel("mbarrier.init.shared.b64 [%r2], 1;" + begin +
                                        "cp.async.mbarrier.arrive.shared.b64 [%r2];" + kWait)
                                 .outcome.fault),
            static_cast<int>(Fault::timeout));
}

TEST(SimulatedMbarriers, Mistakes) {
  expect_fault(
      "mbarrier.arrive.shared.b64 %rd2, [%r2];", Fault::trap,
      "mbarrier.arrive.shared.b64 at 0x0 of the shared memory, where there is no initialized mbarrier");
  expect_fault(
      "mbarrier.init.shared.b64 [%r2], 1; mbarrier.inval.shared.b64 [%r2]; "
      "mbarrier.test_wait.parity.shared.b64 %p1, [%r2], 0;",
      Fault::trap, "no initialized mbarrier");
  expect_fault("mbarrier.init.shared.b64 [%r2], 0;", Fault::trap, "with a count of 0");
  expect_fault("mbarrier.init.shared.b64 [%r2+4], 1;", Fault::misaligned_address,
               "mbarrier.init.shared.b64 of 8 bytes");
  expect_fault("mbarrier.init.shared.b64 [%r2+128], 1;", Fault::trap, "of which there are 128 bytes");
  expect_fault("mbarrier.init.b64 [%rd1], 1;", Fault::trap, "which is not in shared memory");
  expect_fault("mbarrier.init.shared.b64 [%r2], 2; mbarrier.arrive.shared.b64 %rd2, [%r2], 3;", Fault::trap,
               "3 arrive where the phase waits for 2");
  expect_fault("mbarrier.init.shared.b64 [%r2], 2; mbarrier.arrive.noComplete.shared.b64 %rd2, [%r2], 2;",
               Fault::trap, "completes the phase");
  expect_fault("mbarrier.init.shared.b64 [%r2], 2; mbarrier.expect_tx.shared.b64 [%r2], 0x100000;",
               Fault::trap, "1048576 bytes are more than an mbarrier counts");
  expect_fault(
      "mbarrier.init.shared.b64 [%r2], 2; mov.u64 %rd2, 0; mbarrier.test_wait.shared.b64 %p1, [%r2], %rd2;",
      Fault::trap, "for a state that no arrival has given");
  expect_fault(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2+64], [%rd1], 32, [%r2];",
      Fault::trap, "no initialized mbarrier");
  const std::string init = "mbarrier.init.shared.b64 [%r2], 1;";
  expect_fault(
      init +
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2+64], [%rd1+8], 32, [%r2];",
      Fault::misaligned_address, "which is not a multiple of 16");
  expect_fault(
      init + "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2+64], [%rd1], 24, [%r2];",
      Fault::misaligned_address, "of 24 bytes, which is not a multiple of 16");
  expect_fault(
      init + "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2+64], [%rd1], 80, [%r2];",
      Fault::trap, "of which there are 128 bytes");
  expect_fault("cp.async.bulk.global.shared::cta.bulk_group [%rd1+496], [%r2], 32;", Fault::illegal_address,
               "past the end of 512 bytes");
}

}  // namespace mbarrier_test
}  // namespace opgate::simulator::tests
