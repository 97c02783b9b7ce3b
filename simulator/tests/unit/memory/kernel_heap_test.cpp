// `malloc` and `free` in kernels.
#include "both_ways.h"
#include "watched.h"

namespace opgate::simulator::tests {
namespace kernel_heap_test {

constexpr const char* kFunctions = R"(
.extern .func (.param .b64 func_retval0) malloc (.param .b64 malloc_param_0);
.extern .func free (.param .b64 free_param_0);
)";

// %rd2 = malloc(%rd3)
constexpr const char* kMalloc = R"(
  { .param .b64 param0; st.param.b64 [param0], %rd3; .param .b64 retval0;
    call.uni (retval0), malloc, (param0); ld.param.b64 %rd2, [retval0]; })";

// free(%rd2)
constexpr const char* kFree = R"(
  { .param .b64 param0; st.param.b64 [param0], %rd2; call.uni free, (param0); })";

std::string kernel_with(const std::string& body) { return kernel_of(body, kFunctions); }

// Each thread keeps its index in memory of its own, and stores it to the element of the pointer.
std::string through_own_memory(bool frees) {
  return kernel_with(std::string("mov.u64 %rd3, 4;") + kMalloc +
                     "st.u32 [%rd2], %r1; ld.u32 %r2, [%rd2]; mul.wide.u32 %rd4, %r1, 4; add.u64 %rd4, %rd1, "
                     "%rd4; st.global.u32 [%rd4], %r2;" +
                     (frees ? kFree : ""));
}

TEST(KernelHeap, EachThreadHasMemoryOfItsOwn) {
  for (const bool frees : {false, true}) {
    const Ran ran =
        run_both_ways(through_own_memory(frees), [](FakeDevice& device, std::vector<std::uint64_t>& results) {
          results = {device.allocate(std::vector<std::uint32_t>(40))};
          return launch_of("k", {}, {40}, Arguments(results[0]));
        });
    expect_no_fault(ran.outcome);
    for (unsigned i = 0; i < 40; ++i) EXPECT_EQ(ran.memory[0][i * 4], i);
  }
}

TEST(KernelHeap, GivesNullWithoutMore) {
  const Ran ran = run_both_ways(
      kernel_with(std::string("mov.u64 %rd3, 24;") + kMalloc +
                  "mul.wide.u32 %rd4, %r1, 8; add.u64 %rd4, %rd1, %rd4; st.global.u64 [%rd4], %rd2; mov.u64 "
                  "%rd2, 0;" +
                  kFree),
      [](FakeDevice& device, std::vector<std::uint64_t>& results) {
        device.left_of_heap = 50;
        results = {device.allocate(std::vector<std::uint64_t>(3))};
        return launch_of("k", {}, {3}, Arguments(results[0]));
      });
  expect_no_fault(ran.outcome);
  std::array<std::uint64_t, 3> addresses{};
  std::memcpy(addresses.data(), ran.memory[0].data(), sizeof(addresses));
  EXPECT_EQ(std::ranges::count(addresses, 0U), 1);
}

// The instruction that accesses the memory has done so before.
TEST(KernelHeap, FreedMemoryIsNotAllowedAsBefore) {
  const Ran ran = run_both_ways(
      kernel_with(std::string("mov.u64 %rd3, 4;") + kMalloc + "mov.u32 %r5, 0;\nAGAIN: st.u32 [%rd2], %r1;" +
                  kFree + "add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 2; @%p1 bra AGAIN;"),
      [](FakeDevice& device, std::vector<std::uint64_t>& results) {
        results = {device.allocate(std::vector<std::uint32_t>(1))};
        return launch_of("k", {}, {1}, Arguments(results[0]));
      });
  EXPECT_EQ(ran.outcome.fault, Fault::illegal_address);
  EXPECT_NE(ran.outcome.message.find("st.u32 of 4 bytes"), std::string::npos) << ran.outcome.message;
}

TEST(KernelHeap, RefusesToFreeWhatItHasNotGiven) {
  const Ran ran = run_both_ways(kernel_with(std::string("add.u64 %rd2, %rd1, 4;") + kFree),
                                [](FakeDevice& device, std::vector<std::uint64_t>& results) {
                                  results = {device.allocate(std::vector<std::uint32_t>(4))};
                                  return launch_of("k", {}, {1}, Arguments(results[0]));
                                });
  EXPECT_EQ(ran.outcome.fault, Fault::illegal_address);
  EXPECT_NE(ran.outcome.message.find("call.uni free of 0x"), std::string::npos) << ran.outcome.message;
}

Tools all_tools() {
  std::string unknown;
  return Tools::parse("init,race,sync", unknown);
}

// Threads of other blocks get the same memory, one after the other.
TEST(KernelHeap, NewMemoryRacesWithNothingBefore) {
  expect_nothing(findings_of(through_own_memory(true), {8}, {64}, all_tools()));
}

TEST(KernelHeap, WhatThreadsShareMayRace) {
  const std::string before = std::string(kFunctions) + ".shared .align 8 .u64 place;\n";
  const auto body = [](const std::string& barrier) {
    return std::string("setp.ne.u32 %p1, %r1, 0; @%p1 bra READY; mov.u64 %rd3, 256;") + kMalloc +
           "st.shared.u64 [place], %rd2;\nREADY: bar.sync 0; ld.shared.u64 %rd2, [place]; mul.wide.u32 %rd4, "
           "%r1, 4; add.u64 %rd5, %rd2, %rd4; st.u32 [%rd5], %r1;" +
           barrier +
           "xor.b32 %r2, %r1, 63; mul.wide.u32 %rd6, %r2, 4; add.u64 %rd5, %rd2, %rd6; ld.u32 %r3, [%rd5]; "
           "add.u64 %rd4, %rd1, %rd4; st.global.u32 [%rd4], %r3;";
  };
  expect_nothing(findings_of(kernel_of(body("bar.sync 0;"), before), {1}, {64}, all_tools()));
  expect_finding(findings_of(kernel_of(body(""), before), {1}, {64}, all_tools()), Finding::Kind::race,
                 "races with");
}

}  // namespace kernel_heap_test
}  // namespace opgate::simulator::tests
