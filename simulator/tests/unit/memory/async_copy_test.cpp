// cp.async: what is copied, when it can be seen, and which mistakes are found.
#include <numeric>

#include "both_ways.h"

namespace opgate::simulator::tests {
namespace async_copy_test {

// Bytes 64 to 191 of the memory hold their index, the others 0; the first 64 bytes are the result.
std::vector<std::uint8_t> memory_before() {
  std::vector<std::uint8_t> bytes(192);
  std::iota(bytes.begin() + 64, bytes.end(), std::uint8_t{64});
  return bytes;
}

// One thread or more run the body. In the beginning, %r2 is the address of 64 bytes of shared memory, which
// hold 0xEE; in the end, the first thread stores them in the result.
std::string kernel(const std::string& body) {
  return kernel_of(R"(.shared .align 16 .b8 s[64];
    mov.u32 %r2, s; setp.ne.u32 %p9, %r1, 0; @%p9 bra begin;
    mov.b64 %rd8, 0xeeeeeeeeeeeeeeee;
    st.shared.v2.b64 [%r2], {%rd8, %rd8}; st.shared.v2.b64 [%r2+16], {%rd8, %rd8};
    st.shared.v2.b64 [%r2+32], {%rd8, %rd8}; st.shared.v2.b64 [%r2+48], {%rd8, %rd8};
    begin:)" + body +
                   R"(
    @%p9 ret;
    ld.shared.v2.b64 {%rd8, %rd9}, [%r2]; st.global.v2.b64 [%rd1], {%rd8, %rd9};
    ld.shared.v2.b64 {%rd8, %rd9}, [%r2+16]; st.global.v2.b64 [%rd1+16], {%rd8, %rd9};
    ld.shared.v2.b64 {%rd8, %rd9}, [%r2+32]; st.global.v2.b64 [%rd1+32], {%rd8, %rd9};
    ld.shared.v2.b64 {%rd8, %rd9}, [%r2+48]; st.global.v2.b64 [%rd1+48], {%rd8, %rd9};)");
}

std::vector<std::uint8_t> shared_after(const std::string& body, unsigned threads = 1) {
  const Ran ran = run_both_ways(kernel(body), [&](FakeDevice& device, std::vector<std::uint64_t>& results) {
    results.push_back(device.allocate(memory_before()));
    return launch_of("k", {}, {threads}, Arguments(results.front()));
  });
  expect_no_fault(ran.outcome);
  return {ran.memory.front().begin(), ran.memory.front().begin() + 64};
}

/// Bytes of shared memory, of which some have been copied from this offset, and some are zeros.
struct Shared {
  std::vector<std::uint8_t> bytes = std::vector<std::uint8_t>(64, 0xee);
  Shared& copied(std::size_t to, std::size_t from, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) bytes[to + i] = static_cast<std::uint8_t>(from + i);
    return *this;
  }
  Shared& zeros(std::size_t to, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) bytes[to + i] = 0;
    return *this;
  }
};

Outcome outcome_of(const std::string& body) {
  return run_both_ways(kernel(body),
                       [](FakeDevice& device, std::vector<std::uint64_t>& results) {
                         results.push_back(device.allocate(memory_before()));
                         return launch_of("k", {}, {1}, Arguments(results.front()));
                       })
      .outcome;
}

void expect_fault(const std::string& body, Fault fault, const std::string& words) {
  const Outcome outcome = outcome_of(body);
  EXPECT_EQ(static_cast<int>(outcome.fault), static_cast<int>(fault)) << outcome.message;
  EXPECT_NE(outcome.message.find(words), std::string::npos) << outcome.message;
  EXPECT_EQ(outcome.message.find("cp.async.c"), 0u) << outcome.message;
}

TEST(SimulatedAsyncCopies, OfEachSize) {
  const std::vector<std::uint8_t> after = shared_after(R"(
    cp.async.ca.shared.global [%r2], [%rd1+64], 4;
    cp.async.ca.shared::cta.global.L2::128B [%r2+8], [%rd1+96], 8;
    mov.b64 %rd7, 7;
    cp.async.cg.shared.global.L2::cache_hint.L2::256B [%r2+16], [%rd1+112], 16, %rd7;
    cp.async.commit_group; cp.async.wait_group 0;)");
  EXPECT_EQ(after, Shared().copied(0, 64, 4).copied(8, 96, 8).copied(16, 112, 16).bytes);
}

TEST(SimulatedAsyncCopies, OfFewerBytesThanAreWritten) {
  const std::vector<std::uint8_t> after = shared_after(R"(
    mov.u32 %r3, 11; cp.async.cg.shared.global [%r2], [%rd1+64], 16, %r3;
    cp.async.ca.shared.global [%r2+16], [%rd1+64], 4, 0;
    cp.async.ca.shared.global [%r2+20], [%rd1+64], 4, 4;
    setp.eq.u32 %p1, %r3, 11; cp.async.cg.shared.global [%r2+32], [%rd1+80], 16, %p1;
    cp.async.cg.shared.global [%r2+48], [%rd1+80], 16, !%p1;
    cp.async.wait_all;)");
  EXPECT_EQ(after,
            Shared().copied(0, 64, 11).zeros(11, 9).copied(20, 64, 4).zeros(32, 16).copied(48, 80, 16).bytes);
}

TEST(SimulatedAsyncCopies, WithoutAWaitTheOldBytesAreRead) {
  EXPECT_EQ(shared_after("cp.async.cg.shared.global [%r2], [%rd1+64], 16; cp.async.commit_group;"),
            Shared().bytes);
  EXPECT_EQ(shared_after("cp.async.cg.shared.global [%r2], [%rd1+64], 16; cp.async.commit_group; "
                         "cp.async.wait_group 0;"),
            Shared().copied(0, 64, 16).bytes);
}

TEST(SimulatedAsyncCopies, AWaitKeepsTheLatestGroups) {
  const std::string groups = R"(
    cp.async.cg.shared.global [%r2], [%rd1+64], 16; cp.async.commit_group;
    cp.async.cg.shared.global [%r2+16], [%rd1+80], 16;
    cp.async.cg.shared.global [%r2+32], [%rd1+96], 16; cp.async.commit_group;
    cp.async.cg.shared.global [%r2+48], [%rd1+112], 16;)";
  EXPECT_EQ(shared_after(groups + "cp.async.wait_group 2;"), Shared().bytes);
  EXPECT_EQ(shared_after(groups + "cp.async.wait_group 1;"), Shared().copied(0, 64, 16).bytes);
  // What is in no group is not waited for.
  EXPECT_EQ(shared_after(groups + "cp.async.wait_group 0;"), Shared().copied(0, 64, 48).bytes);
  EXPECT_EQ(shared_after(groups + "cp.async.wait_all;"), Shared().copied(0, 64, 64).bytes);
  // An empty group counts.
  EXPECT_EQ(shared_after(groups + "cp.async.commit_group; cp.async.wait_group 1;"),
            Shared().copied(0, 64, 48).bytes);
}

TEST(SimulatedAsyncCopies, AThreadWaitsForItsOwnCopiesOnly) {
  const std::string other = R"(@!%p9 bra meet;
    cp.async.cg.shared.global [%r2], [%rd1+64], 16; cp.async.commit_group;)";
  EXPECT_EQ(shared_after(other + "meet: cp.async.wait_group 1; bar.sync 0; @!%p9 cp.async.wait_all;", 2),
            Shared().bytes);
  EXPECT_EQ(shared_after(other + "meet: cp.async.wait_group 0; bar.sync 0;", 2),
            Shared().copied(0, 64, 16).bytes);
}

TEST(SimulatedAsyncCopies, HappenAtTheEndOfTheThreadAtTheLatest) {
  EXPECT_EQ(shared_after(R"(@!%p9 bra meet;
    cp.async.cg.shared.global [%r2], [%rd1+64], 16; ret;
    meet: bar.sync 0;)",
                         2),
            Shared().copied(0, 64, 16).bytes);
}

TEST(SimulatedAsyncCopies, ReadTheSourceWhenTheyHappen) {
  EXPECT_EQ(
      shared_after("cp.async.ca.shared.global [%r2], [%rd1+64], 4; st.global.u32 [%rd1+64], 0x03020100; "
                   "cp.async.wait_all;"),
      Shared().copied(0, 0, 4).bytes);
}

TEST(SimulatedAsyncCopies, MistakesAreFoundWhereTheyBegin) {
  expect_fault("cp.async.ca.shared.global [%r2], [%rd1+68], 8;", Fault::misaligned_address,
               "cp.async.ca.shared.global of 8 bytes at 0x7f0000000044, which is not a multiple of 8");
  expect_fault("cp.async.cg.shared.global [%r2], [%rd1+72], 16, 8;", Fault::misaligned_address,
               "cp.async.cg.shared.global of 16 bytes at 0x7f0000000048, which is not a multiple of 16");
  expect_fault("cp.async.cg.shared.global [%r2+8], [%rd1+64], 16;", Fault::misaligned_address,
               "cp.async.cg.shared.global of 16 bytes at 0x8");
  expect_fault("cp.async.cg.shared.global [%r2+64], [%rd1+64], 16;", Fault::trap,
               "of the shared memory, of which there are 64 bytes");
  expect_fault("cp.async.cg.shared.global [%r2], [%rd1+192], 16;", Fault::illegal_address,
               "past the end of 192 bytes");
  expect_fault("cp.async.cg.shared.global [%r2], [%rd1+192], 16, 1;", Fault::illegal_address,
               "past the end of 192 bytes");
  expect_fault("cp.async.cg.shared.global [%r2], [%rd1], 16, 17;", Fault::trap, "of 16 bytes that reads 17");
  expect_fault("cp.async.ca.shared.global [%r2], [%rd1], 2;", Fault::trap, "of 2 bytes");
  // Nothing is read from after the end.
  EXPECT_EQ(shared_after("cp.async.cg.shared.global [%r2], [%rd1+192], 16, 0; cp.async.wait_all;"),
            Shared().zeros(0, 16).bytes);
}

// Threads 64 to 127 read after a barrier what the threads 0 to 63 copy without waiting for it. Those have
// ended by then.
TEST(SimulatedAsyncCopies, HappenAtTheEndOfAThreadBeforeOthersGoOn) {
  const std::string ptx = kernel_of(R"(.shared .align 4 .b8 s[512];
    mov.u32 %r2, s; mul.lo.u32 %r3, %r1, 4; add.u32 %r2, %r2, %r3; cvt.u64.u32 %rd2, %r3; add.u64 %rd2, %rd1, %rd2;
    cp.async.ca.shared.global [%r2], [%rd2], 4; cp.async.commit_group;
    bar.sync 0;
    xor.b32 %r3, %r3, 256; mov.u32 %r4, s; add.u32 %r3, %r3, %r4; ld.shared.u32 %r5, [%r3]; st.global.u32 [%rd2+512], %r5;)");
  const Ran ran = run_both_ways(ptx, [](FakeDevice& device, std::vector<std::uint64_t>& results) {
    std::vector<std::uint32_t> values(256);
    std::iota(values.begin(), values.begin() + 128, 1u);
    results = {device.allocate(values)};
    return launch_of("k", {}, {128}, Arguments(results[0]));
  });
  expect_no_fault(ran.outcome);
  std::array<std::uint32_t, 256> values{};
  std::memcpy(values.data(), ran.memory[0].data(), sizeof(values));
  EXPECT_EQ(values[128], ~0u);
  EXPECT_EQ(values[128 + 64], 1u);
}

}  // namespace async_copy_test
}  // namespace opgate::simulator::tests
