// Branches, calls, special registers and clocks.
#include "fake_device.h"

namespace opgate::simulator::tests {
namespace control_test {

TEST(SimulatedControl, GuardsAndBranches) {
  const std::string ptx = kernel_of(R"(
    setp.gt.u32 %p1, %r1, 2; mov.u32 %r2, 0; @%p1 mov.u32 %r2, 10; @!%p1 mov.u32 %r2, 20; mov.u32 %r3, 0;
$loop: add.u32 %r3, %r3, %r2; setp.lt.u32 %p2, %r3, 100; @%p2 bra.uni $loop;
    { .reg .u32 %r2; mov.u32 %r2, 5; add.u32 %r3, %r3, %r2; bra $out; mov.u32 %r3, 0; $out: }
    { bra $out; mov.u32 %r3, 0; $out: add.u32 %r3, %r3, %r2; }
    mul.wide.u32 %rd2, %r1, 4; add.u64 %rd2, %rd2, %rd1; st.global.u32 [%rd2], %r3;)");
  EXPECT_EQ(values_of(ptx, 4, {4}), (std::vector<std::uint32_t>{125, 125, 125, 115}));
}

TEST(SimulatedControl, BranchByTable) {
  const std::string ptx = kernel_of(R"(
    targets: .branchtargets $zero, $one, $two;
    mov.u32 %r2, 0; brx.idx %r1, targets;
$zero: add.u32 %r2, %r2, 1; $one: add.u32 %r2, %r2, 10; $two: add.u32 %r2, %r2, 100;
    mul.wide.u32 %rd2, %r1, 4; add.u64 %rd2, %rd2, %rd1; st.global.u32 [%rd2], %r2;)");
  EXPECT_EQ(values_of(ptx, 3, {3}), (std::vector<std::uint32_t>{111, 110, 100}));
}

const std::string kFunctions = R"(
.func (.param .b32 result) twice(.param .b32 value);
.func (.param .align 8 .b8 result[16]) make(.param .align 8 .b8 value[16], .param .b32 more)
{
  .reg .b32 %r<5>; .reg .b64 %rd<3>;
  ld.param.u32 %r1, [value]; ld.param.u64 %rd1, [value+8]; ld.param.u32 %r2, [more];
  { .param .b32 in; .param .b32 out; st.param.b32 [in], %r1; call.uni (out), twice, (in); ld.param.b32 %r1, [out]; }
  add.u32 %r1, %r1, %r2; st.param.b32 [result], %r1; add.u64 %rd1, %rd1, 1; st.param.b64 [result+8], %rd1;
  ret;
}
.func (.param .b32 result) twice(.param .b32 value)
{
  .reg .b32 %r<3>; ld.param.u32 %r1, [value]; add.u32 %r2, %r1, %r1; st.param.b32 [result], %r2; ret;
}
.visible .func (.param .b32 result) fibonacci(.param .b32 value)
{
  .reg .b32 %r<9>; .reg .pred %p<2>; .local .align 4 .b8 kept[4];
  ld.param.u32 %r1, [value]; st.local.u32 [kept], %r1; mov.u32 %r2, %r1; setp.lt.u32 %p1, %r1, 2; @%p1 bra end;
  { .param .b32 in; st.param.b32 [in], %r2; .param .b32 out; add.u32 %r3, %r1, -1; st.param.b32 [in], %r3; call (out), fibonacci, (in); ld.param.b32 %r4, [out]; }
  { .param .b32 in; .param .b32 out; ld.local.u32 %r5, [kept]; add.u32 %r5, %r5, -2; st.param.b32 [in], %r5; call (out), fibonacci, (in); ld.param.b32 %r6, [out]; }
  add.u32 %r2, %r4, %r6;
end: st.param.b32 [result], %r2; ret;
}
.func (.reg .u32 r) sum(.reg .u32 a, .reg .u32 b) { add.u32 r, a, b; ret; }
.func sets_global(.param .b64 where) { .reg .b64 %rd; ld.param.u64 %rd, [where]; st.global.u32 [%rd], 31; ret; }
)";

TEST(SimulatedControl, CallsWithStructures) {
  const std::string ptx = kernel_of(R"(
    { .param .align 8 .b8 in[16]; .param .b32 more; .param .align 8 .b8 out[16];
    st.param.b32 [in], %r1; st.param.b64 [in+8], 41; st.param.b32 [more], 5; call.uni (out), make, (in, more);
    ld.param.b32 %r2, [out]; ld.param.b64 %rd3, [out+8]; }
    cvt.u32.u64 %r3, %rd3; mad.lo.u32 %r2, %r3, 1000, %r2;
    mul.wide.u32 %rd2, %r1, 4; add.u64 %rd2, %rd2, %rd1; st.global.u32 [%rd2], %r2;)",
                                    kFunctions);
  EXPECT_EQ(values_of(ptx, 3, {3}), (std::vector<std::uint32_t>{42005, 42007, 42009}));
}

TEST(SimulatedControl, Recursion) {
  const std::string ptx = kernel_of(R"(
    { .param .b32 in; .param .b32 out; st.param.b32 [in], %r1; call.uni (out), fibonacci, (in); ld.param.b32 %r2, [out]; }
    mul.wide.u32 %rd2, %r1, 4; add.u64 %rd2, %rd2, %rd1; st.global.u32 [%rd2], %r2;)",
                                    kFunctions);
  EXPECT_EQ(values_of(ptx, 10, {10}), (std::vector<std::uint32_t>{0, 1, 1, 2, 3, 5, 8, 13, 21, 34}));
}

TEST(SimulatedControl, RegistersAsParametersAndNoResult) {
  const std::string ptx = kernel_of(R"(
    call (%r2), sum, (%r1, 40); { .param .b64 where; st.param.b64 [where], %rd1; call sets_global, (where); }
    st.global.u32 [%rd1+4], %r2;)",
                                    kFunctions);
  EXPECT_EQ(values_of(ptx, 2, {}), (std::vector<std::uint32_t>{31, 40}));
}

TEST(SimulatedControl, CallsByAddress) {
  const std::string ptx = kernel_of(R"(
    mov.u64 %rd2, twice; mov.u64 %rd3, fibonacci; setp.eq.u32 %p1, %r1, 0; selp.b64 %rd4, %rd2, %rd3, %p1;
    { .param .b32 in; .param .b32 out; st.param.b32 [in], 10;
    prototype_0 : .callprototype (.param .b32 _) _ (.param .b32 _);
    call (out), %rd4, (in), prototype_0; ld.param.b32 %r2, [out]; }
    mul.wide.u32 %rd2, %r1, 4; add.u64 %rd2, %rd2, %rd1; st.global.u32 [%rd2], %r2;)",
                                    kFunctions);
  EXPECT_EQ(values_of(ptx, 2, {2}), (std::vector<std::uint32_t>{20, 55}));
}

TEST(SimulatedControl, TablesOfFunctions) {
  const std::string ptx =
      kernel_of(R"(
    mul.wide.u32 %rd2, %r1, 8; mov.u64 %rd3, table; add.u64 %rd3, %rd3, %rd2; ld.global.u64 %rd4, [%rd3];
    { .param .b32 in; .param .b32 out; st.param.b32 [in], 10; call (out), %rd4, (in), prototype_0; ld.param.b32 %r2, [out]; }
    prototype_0 : .callprototype (.param .b32 _) _ (.param .b32 _);
    mul.wide.u32 %rd2, %r1, 4; add.u64 %rd2, %rd2, %rd1; st.global.u32 [%rd2], %r2;)",
                kFunctions + ".global .align 8 .u64 table[3] = {fibonacci, twice, fibonacci};");
  FakeDevice device;
  const std::unique_ptr<Module> module = Module::parse(ptx);
  module->place("table", device.allocate(module->variables()[0].initial));
  const std::uint64_t memory = device.allocate(std::vector<std::uint32_t>(3));
  expect_no_fault(module->run(launch_of("k", {}, {3}, Arguments(memory)), device));
  EXPECT_EQ(device.read<std::uint32_t>(memory), (std::vector<std::uint32_t>{55, 20, 55}));
}

TEST(SimulatedControl, PrintfDoesNothing) {
  const std::string ptx = kernel_of(R"(
    { .param .b64 a; .param .b64 b; .param .b32 out; st.param.b64 [a], 0; st.param.b64 [b], 0; call.uni (out), vprintf, (a, b); }
    st.global.u32 [%rd1], 3;)",
                                    ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);");
  EXPECT_EQ(values_of(ptx, 1, {}), std::vector<std::uint32_t>{3});
}

TEST(SimulatedControl, IndicesOfThreadsAndBlocks) {
  // One value for each thread, at its place in the whole grid.
  const std::string ptx = kernel_of(R"(
    mov.u32 %r2, %tid.y; mov.u32 %r3, %tid.z; mov.u32 %r4, %ctaid.x; mov.u32 %r5, %ctaid.y; mov.u32 %r6, %ctaid.z;
    mov.u32 %r7, %ntid.x; mov.u32 %r8, %ntid.y; mov.u32 %r9, %ntid.z; mov.u32 %r10, %nctaid.x; mov.u32 %r11, %nctaid.y;
    mad.lo.u32 %r12, %r3, %r8, %r2; mad.lo.u32 %r12, %r12, %r7, %r1;
    mad.lo.u32 %r13, %r6, %r11, %r5; mad.lo.u32 %r13, %r13, %r10, %r4;
    mul.lo.u32 %r14, %r7, %r8; mul.lo.u32 %r14, %r14, %r9; mad.lo.u32 %r15, %r13, %r14, %r12;
    mul.wide.u32 %rd2, %r15, 4; add.u64 %rd2, %rd2, %rd1; mov.u32 %r16, %nctaid.z; mad.lo.u32 %r15, %r15, 10, %r16; st.global.u32 [%rd2], %r15;)");
  const std::vector<std::uint32_t> values = values_of(ptx, 3 * 2 * 2 * 2 * 3 * 4, {3, 2, 2}, {2, 3, 4});
  for (std::uint32_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i], 10 * i + 4);
}

TEST(SimulatedControl, SpecialRegistersWithoutAMeaningHere) {
  const std::string ptx = kernel_of(R"(
    mov.u32 %r2, %smid; mov.u32 %r3, %warpid; mov.u32 %r4, %nwarpid; mov.u32 %r5, %cluster_nctaid.x; mov.u32 %r6, %envreg3;
    mad.lo.u32 %r7, %r3, 10, %r4; mad.lo.u32 %r7, %r5, 100, %r7; add.u32 %r7, %r7, %r2; add.u32 %r7, %r7, %r6;
    mul.wide.u32 %rd2, %r1, 4; add.u64 %rd2, %rd2, %rd1; st.global.u32 [%rd2], %r7;)");
  const std::vector<std::uint32_t> values = values_of(ptx, 70, {70});
  EXPECT_EQ(values[0], 103u);
  EXPECT_EQ(values[69], 123u);
}

TEST(SimulatedControl, WorkspaceOfCooperativeLaunches) {
  FakeDevice device;
  const std::uint64_t memory = device.allocate(std::vector<std::uint64_t>(1));
  Launch launch = launch_of("k", {}, {}, Arguments(memory));
  launch.grid_workspace = 0x123456789abc;
  const std::unique_ptr<Module> module = Module::parse(kernel_of(
      "mov.u32 %r2, %envreg2; mov.u32 %r3, %envreg1; mov.b64 %rd2, {%r2, %r3}; st.global.u64 [%rd1], %rd2;"));
  expect_no_fault(module->run(launch, device));
  EXPECT_EQ(device.read<std::uint64_t>(memory)[0], 0x123456789abcu);
}

TEST(SimulatedControl, TimePasses) {
  const std::string ptx = kernel_of(R"(
    mov.u64 %rd2, %clock64; mov.u32 %r2, %clock; mov.u64 %rd3, %globaltimer; nanosleep.u32 5000;
again: mov.u64 %rd4, %clock64; sub.u64 %rd5, %rd4, %rd2; setp.lt.u64 %p1, %rd5, 100000; @%p1 bra again;
    mov.u64 %rd6, %globaltimer; setp.gt.u64 %p2, %rd6, %rd3; selp.u32 %r3, 1, 0, %p2; st.global.u32 [%rd1], %r3;)");
  EXPECT_EQ(values_of(ptx, 1, {}), std::vector<std::uint32_t>{1});
}

TEST(SimulatedControl, WhatHasNoEffect) {
  const std::string ptx = kernel_of(R"(
    membar.gl; membar.sys; fence.acq_rel.gpu; fence.sc.cta; fence.proxy.async; prefetch.global.L2 [%rd1]; prefetchu.L1 [%rd1];
    pmevent 3; griddepcontrol.wait; griddepcontrol.launch_dependents; .pragma "nounroll"; st.global.u32 [%rd1], 1;)");
  EXPECT_EQ(values_of(ptx, 1, {}), std::vector<std::uint32_t>{1});
}

TEST(SimulatedControl, AlwaysTheSame) {
  const std::string ptx = kernel_of(
      "atom.global.add.u32 %r2, [%rd1], 1; mad.lo.u32 %r3, %r2, 31, %r1; atom.global.xor.b32 %r4, [%rd1+4], "
      "%r3;");
  EXPECT_EQ(values_of(ptx, 2, {100}, {7}), values_of(ptx, 2, {100}, {7}));
  FakeDevice device;
  const std::uint64_t memory = device.allocate(std::vector<std::uint32_t>(2));
  EXPECT_EQ(run(device, ptx, {7}, {100}, Arguments(memory)).instructions, 7u * 100 * 6);
}

}  // namespace control_test
}  // namespace opgate::simulator::tests
