// The tool `init`: loads of bytes that were never written, in each kind of memory. What is loaded is a result
// of the kernel, which the host reads.
#include "watched.h"

namespace opgate::simulator::tests {
namespace init_test {

Tools init() {
  Tools tools;
  tools.init = true;
  return tools;
}

std::vector<Finding> unwritten_of(const std::string& body, Extent block = {},
                                  const std::string& before = "") {
  // The registers in which tests load, in a place of each thread.
  const std::string store =
      "mov.u32 %r20, %ctaid.x; mad.lo.u32 %r20, %r20, 64, %r1; mul.wide.u32 %rd9, %r20, 16; add.u64 %rd9, "
      "%rd1, %rd9; st.global.v4.u32 [%rd9], {%r2, %r3, %r4, %r5};";
  return findings_of(kernel_of(body + store, before), {2}, block, init());
}

void expect_unwritten(const std::vector<Finding>& findings, const std::string& words) {
  expect_finding(findings, Finding::Kind::init, words);
}

TEST(SimulatedInit, SharedMemoryIsNewInEachBlock) {
  const std::string shared = ".shared .align 16 .b8 s[256]; ";
  expect_unwritten(unwritten_of(shared + "ld.shared.u32 %r2, [s];"),
                   "ld.shared.u32 reads 4 bytes of shared memory that was not written");
  expect_nothing(unwritten_of(shared + "st.shared.u32 [s], 1; ld.shared.u32 %r2, [s];"));
  // What the first block has written is not there for the second one.
  expect_unwritten(
      unwritten_of(shared + "mov.u32 %r2, %ctaid.x; setp.eq.u32 %p1, %r2, 0; @%p1 st.shared.u32 [s], "
                            "1; ld.shared.u32 %r3, [s];"),
      "4 bytes");
  expect_unwritten(unwritten_of(shared + "atom.shared.add.u32 %r2, [s], 1;"), "atom.shared.add.u32 reads");
  expect_nothing(unwritten_of(shared + "st.shared.u32 [s], 0; atom.shared.add.u32 %r2, [s], 1;"));
}

TEST(SimulatedInit, OnlyTheUnwrittenBytesOfAVectorAreReported) {
  const std::vector<Finding> found = unwritten_of(
      ".shared .align 16 .b8 s[32]; st.shared.v2.u32 [s+16], {1, 2}; st.shared.u8 [s+28], 3; "
      "ld.shared.v4.u32 {%r2, "
      "%r3, %r4, %r5}, [s+16];");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].bytes, 7u);
  EXPECT_EQ(found[0].address, 24u);
  EXPECT_EQ(found[0].space, "shared");
  EXPECT_EQ(found[0].count, 2u);  // in both blocks
}

TEST(SimulatedInit, AVectorOfEight) {
  const std::string ptx = kernel_of(R"(
    add.u32 %r2, %r1, 5; st.global.v8.b32 [%rd1], {%r2, %r2, %r2, %r2, %r2, %r2, %r2, %r2};
    ld.global.v8.b32 {%r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10}, [%rd1]; setp.eq.u32 %p1, %r10, 5; @%p1 bra end; end:)");
  expect_nothing(findings_of(ptx, {1}, {1}, {.init = true, .race = true}));
  expect_finding(findings_of(ptx, {2}, {32}, {.race = true}), Finding::Kind::race,
                 "st.global.v8.b32 races with");
}

TEST(SimulatedInit, LocalMemory) {
  const std::string local = ".local .align 8 .b8 l[16]; ";
  expect_unwritten(unwritten_of(local + "ld.local.u32 %r2, [l+4];", {4}), "local memory");
  expect_nothing(unwritten_of(local + "st.local.u64 [l], 1; ld.local.u32 %r2, [l+4];", {4}));
  expect_unwritten(
      unwritten_of(local + "setp.ne.u32 %p1, %r1, 2; @%p1 st.local.u32 [l], 1; ld.local.u32 %r2, [l];", {4}),
      "local memory");
  expect_unwritten(
      unwritten_of(local + "mov.u64 %rd2, l; cvta.local.u64 %rd2, %rd2; ld.u32 %r2, [%rd2];", {4}),
      "ld.u32 reads 4 bytes of local memory");
}

TEST(SimulatedInit, ArgumentsAndResultsOfCallsAreWritten) {
  const auto function = [](const std::string& body) {
    return ".func (.param .b32 result) f(.param .b32 x) { .reg .b32 %r<4>; .local .align 4 .b8 l[4]; "
           "ld.param.u32 "
           "%r1, [x]; mov.u32 %r2, 0; " +
           body + " add.u32 %r1, %r1, %r2; st.param.u32 [result], %r1; ret; }";
  };
  const std::string call =
      "{ .param .b32 a; .param .b32 b; st.param.u32 [a], 3; call.uni (b), f, (a); ld.param.u32 %r2, [b]; }\n";
  expect_nothing(unwritten_of(call + call, {}, function("st.local.u32 [l], 1; ld.local.u32 %r2, [l];")));
  // The memory of the first call is that of the second one, which must write it again.
  expect_unwritten(unwritten_of(call + call, {}, function("ld.local.u32 %r2, [l]; st.local.u32 [l], 1;")),
                   "ld.local.u32");
  const std::vector<Finding> found =
      unwritten_of(call + call, {}, function("ld.local.u32 %r2, [l]; st.local.u32 [l], 1;"));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].count, 4u);
}

TEST(SimulatedInit, GlobalMemoryIsAsItsOwnerSays) {
  const std::string ptx = kernel_of(
      "mul.wide.u32 %rd2, %r1, 4; add.u64 %rd2, %rd2, %rd1; ld.global.u32 %r2, "
      "[%rd2]; st.global.u32 [%rd2], %r2;");
  FakeDevice device;
  const std::uint64_t memory = device.allocate(std::vector<std::uint32_t>(64));
  Observer observer(init());
  const std::unique_ptr<Module> module = Module::parse(ptx);
  Launch launch = launch_of("k", {}, {64}, Arguments(memory));
  launch.observer = &observer;
  const auto count = [&] {
    expect_no_fault(module->run(launch, device));
    read_all(observer, device);
    const std::vector<Finding> found = observer.take_findings();
    return found.empty() ? 0 : found[0].count;
  };
  EXPECT_EQ(count(), 0u);  // nothing said that it is new
  observer.memory().forget(memory, 256);
  observer.memory().mark_written(memory + 40, 100);
  EXPECT_EQ(count(), 64u - 25u);
  EXPECT_EQ(count(), 0u);  // the kernel has written it
}

TEST(SimulatedInit, WrittenMemoryInRanges) {
  constexpr std::uint64_t kBegin = 0x7f0000000100;
  WrittenMemory memory;
  EXPECT_EQ(memory.unwritten(kBegin, 4), 0u);
  memory.forget(kBegin, 100'000);
  EXPECT_EQ(memory.unwritten(kBegin, 32), 0xffffffffu);
  EXPECT_EQ(memory.unwritten(kBegin + 50'000, 4), 0xfu);
  EXPECT_EQ(memory.unwritten(kBegin + 99'996, 4), 0xfu);
  EXPECT_EQ(memory.unwritten(kBegin + 100'000, 4), 0u);
  EXPECT_EQ(memory.unwritten(kBegin - 4, 4), 0u);
  memory.mark_written(kBegin + 10'001, 20'000);
  EXPECT_EQ(memory.unwritten(kBegin + 10'000, 4), 1u);
  EXPECT_EQ(memory.unwritten(kBegin + 20'000, 8), 0u);
  EXPECT_EQ(memory.unwritten(kBegin + 30'000, 2), 2u);
  // A smaller allocation in the same place, and a larger one around it.
  memory.mark_written(kBegin, 100'000);
  EXPECT_EQ(memory.unwritten(kBegin + 50'000, 4), 0u);
  memory.forget(kBegin + 20'480, 8192);
  EXPECT_EQ(memory.unwritten(kBegin + 24'000, 4), 0xfu);
  EXPECT_EQ(memory.unwritten(kBegin + 60'000, 4), 0u);
  memory.forget(kBegin, 200'000);
  EXPECT_EQ(memory.unwritten(kBegin + 60'000, 4), 0xfu);
  EXPECT_EQ(memory.unwritten(kBegin + 180'000, 4), 0xfu);
  memory.store(kBegin + 180'000, 4);
  EXPECT_EQ(memory.unwritten(kBegin + 180'000, 8), 0xf0u);
}

TEST(SimulatedInit, RangesOfNewMemoryThatOverlap) {
  constexpr std::uint64_t kBegin = 0x7f0000000000;
  WrittenMemory memory;
  memory.forget(kBegin + 40'960, 40'960);
  memory.forget(kBegin, 61'440);
  EXPECT_EQ(memory.unwritten(kBegin + 30'000, 4), 0xfu);
  EXPECT_EQ(memory.unwritten(kBegin + 70'000, 4), 0xfu);
  EXPECT_EQ(memory.unwritten(kBegin + 81'920, 4), 0u);
  // A few bytes of a page of which nothing is written.
  memory.forget(kBegin + 20'001, 10);
  EXPECT_EQ(memory.unwritten(kBegin + 20'000, 32), 0xffffffffu);
}

}  // namespace init_test
}  // namespace opgate::simulator::tests
