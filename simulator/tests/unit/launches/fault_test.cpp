// What ends a kernel: which fault, where, and in which words.
#include <filesystem>
#include <fstream>

#include "fake_device.h"

namespace opgate::simulator::tests {
namespace fault_test {

void expect_fault(const Outcome& outcome, Fault fault, const std::string& words) {
  EXPECT_EQ(static_cast<int>(outcome.fault), static_cast<int>(fault)) << outcome.message;
  EXPECT_NE(outcome.message.find(words), std::string::npos) << outcome.message;
}

// 64 values of 32 bits at %rd1.
Outcome run_body(const std::string& body, Extent block = {}, Extent grid = {},
                 const std::string& before = "") {
  FakeDevice device;
  const std::uint64_t memory = device.allocate(std::vector<std::uint32_t>(64));
  return run(device, kernel_of(body, before), grid, block, Arguments(memory));
}

// LLVM counts the lines of inline assembly on from that of the source.
TEST(SimulatedFaults, TheLineOfInlineAssemblyIsThatOfTheSource) {
  const auto location = [](const std::string& between) {
    return run_body("\n.loc 1 26 24\n" + between + "ld.u32 %r2, [0];\n// end inline asm\n.loc 1 31 1\n", {},
                    {}, ".file 1 \"kernel.py\"\n")
        .location;
  };
  EXPECT_EQ(location("// begin inline asm\n.loc 1 26 24\nmov.u32 %r2, 0;\n.loc 1 27 24\n"), "kernel.py:26");
  EXPECT_EQ(location("mov.u32 %r2, 0;\n.loc 1 27 24\n"), "kernel.py:27");
}

TEST(SimulatedFaults, OutOfBounds) {
  const Outcome outcome = run_body(
      R"(mov.u32 %r2, %ctaid.x; mad.lo.u32 %r2, %r2, 32, %r1; mul.wide.u32 %rd2, %r2, 4; add.u64 %rd2, %rd2, %rd1;
    st.global.u32 [%rd2], %r1;)",
      {32}, {3});
  expect_fault(outcome, Fault::illegal_address,
               "st.global.u32 of 4 bytes at 0x7f0000000100: past the end of 256 bytes");
  EXPECT_EQ(outcome.block_index.x, 2u);
  EXPECT_EQ(outcome.thread_index.x, 0u);
  EXPECT_EQ(outcome.location, "line 11 of the PTX");
  expect_fault(run_body("ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%rd1+256];"), Fault::illegal_address,
               "of 16 bytes");
  expect_fault(run_body("ld.global.u32 %r2, [%rd1+-4];"), Fault::illegal_address, "not allocated");
  expect_fault(run_body("ld.u32 %r2, [0];"), Fault::illegal_address, "at 0x0: not allocated");
  expect_fault(run_body("atom.global.add.u32 %r2, [%rd1+1024], 1;"), Fault::illegal_address,
               "atom.global.add.u32");
}

TEST(SimulatedFaults, WhatMayOnlyBeReadIsNotWritten) {
  FakeDevice device;
  const std::uint64_t memory = device.allocate(std::vector<std::uint32_t>(4));
  device.make_read_only(memory);
  expect_fault(run(device, kernel_of("ld.global.u32 %r2, [%rd1]; st.global.u32 [%rd1], %r2;"), {}, {},
                   Arguments(memory)),
               Fault::illegal_address, "read only");
}

TEST(SimulatedFaults, Misaligned) {
  const Outcome outcome = run_body("ld.global.v2.f32 {%f1, %f2}, [%rd1+4];");
  expect_fault(outcome, Fault::misaligned_address,
               "ld.global.v2.f32 of 8 bytes at 0x7f0000000004, which is not a multiple of 8");
  expect_fault(run_body(".shared .align 8 .b8 s[16]; st.shared.u32 [s+2], 1;"), Fault::misaligned_address,
               "st.shared.u32");
  expect_fault(run_body("atom.global.add.u64 %rd2, [%rd1+4], 1;"), Fault::misaligned_address,
               "atom.global.add.u64");
}

TEST(SimulatedFaults, SharedAndLocalMemoryHaveAnEnd) {
  expect_fault(run_body(".shared .align 4 .b8 s[16]; ld.shared.u32 %r2, [s+16];"), Fault::trap,
               "at 0x10 of the shared memory, of which there are 16 bytes");
  expect_fault(
      run_body(".local .align 4 .b8 s[16]; mov.u64 %rd2, s; cvta.local.u64 %rd2, %rd2; st.u32 [%rd2+16], 1;"),
      Fault::trap, "local memory");
  expect_fault(run_body(".shared .align 4 .b8 s[16]; mov.u32 %r2, s; ld.shared.u32 %r3, [%r2+-4];"),
               Fault::trap, "at 0xfffffffc of the shared memory");
  expect_fault(run_body("mov.u64 %rd2, pointer; cvta.param.u64 %rd2, %rd2; st.u32 [%rd2], 1;"), Fault::trap,
               "cannot be written");
}

TEST(SimulatedFaults, Trap) {
  const Outcome outcome = run_body(
      "mov.u32 %r2, %tid.y; mov.u32 %r3, %tid.z; add.u32 %r2, %r2, %r3; setp.eq.u32 %p1, %r2, 4; @%p1 trap;",
      {2, 4, 2});
  expect_fault(outcome, Fault::trap, "trap");
  EXPECT_EQ(outcome.thread_index.y, 3u);
  EXPECT_EQ(outcome.thread_index.z, 1u);
}

TEST(SimulatedFaults, AssertionInWords) {
  const std::string ptx = kernel_of(
      R"(setp.ne.u32 %p1, %r1, 2; @%p1 bra fine;
    { .param .b64 message; st.param.b64 [message], %rd2; .param .b64 file; .param .b32 line; .param .b64 function; .param .b64 size;
      mov.u64 %rd2, text; st.param.b64 [message], %rd2; mov.u64 %rd2, name; st.param.b64 [file], %rd2; st.param.b32 [line], 12;
      st.param.b64 [function], 0; st.param.b64 [size], 1; call.uni __assertfail, (message, file, line, function, size); }
    fine:)",
      R"(.extern .func __assertfail (.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e) .noreturn;
    .global .align 1 .b8 text[6] = {105, 32, 60, 32, 110}; .global .align 1 .b8 name[5] = {97, 46, 99, 117};)");
  FakeDevice device;
  const std::unique_ptr<Module> module = Module::parse(ptx);
  place_variables(*module, device);
  const std::uint64_t memory = device.allocate(std::vector<std::uint32_t>(4));
  const Outcome outcome = module->run(launch_of("k", {}, {4}, Arguments(memory)), device);
  expect_fault(outcome, Fault::assertion, "assertion `i < n` failed at a.cu:12, in ...");
  EXPECT_EQ(outcome.thread_index.x, 2u);
}

TEST(SimulatedFaults, Deadlock) {
  // Half of the threads wait at barrier 0, the others at barrier 1.
  const Outcome outcome =
      run_body("setp.lt.u32 %p1, %r1, 3; @%p1 bra low; bar.sync 1; ret;\nlow: bar.sync 0;", {8});
  expect_fault(outcome, Fault::barrier,
               "5 wait at bar.sync in line 10 of the PTX, the first is thread (3, 0, 0); 3 wait at bar.sync "
               "in line 11");
  expect_fault(run_body("setp.eq.u32 %p1, %r1, 0; @%p1 ret; bar.sync 2, 128;", {64}), Fault::barrier,
               "63 wait at bar.sync");
  expect_fault(run_body("setp.eq.u32 %p1, %r1, 0; @%p1 bra other; bar.sync 0; ret; other: shfl.sync.idx.b32 "
                        "%r2, %r1, 0, 31, -1;",
                        {32}),
               Fault::barrier, "for the lanes of mask 0xffffffff");
  expect_fault(
      run_body("setp.lt.u32 %p1, %r1, 32; @%p1 bra other; bar.sync 0, 64; ret; other: bar.sync 0;", {64}),
      Fault::barrier, "disagree");
}

TEST(SimulatedFaults, CollectiveOfOtherLanes) {
  expect_fault(run_body("shfl.sync.idx.b32 %r2, %r1, 0, 31, 0xf;", {32}), Fault::trap,
               "by lane 4, which is not among them");
}

TEST(SimulatedFaults, WrongBarriers) {
  expect_fault(run_body("mov.u32 %r2, 16; bar.sync %r2;"), Fault::trap, "barrier 16");
  expect_fault(run_body("bar.sync 1, 20;"), Fault::trap, "not a multiple of 32");
}

TEST(SimulatedFaults, TooManyInstructions) {
  FakeDevice device;
  const std::uint64_t memory = device.allocate(std::vector<std::uint32_t>(4));
  const std::unique_ptr<Module> module = Module::parse(kernel_of("again: bra again;"));
  Launch launch = launch_of("k", {2}, {2}, Arguments(memory));
  launch.instruction_limit = 12345;
  const Outcome outcome = module->run(launch, device);
  expect_fault(outcome, Fault::timeout, "the limit of 12345 instructions");
  EXPECT_EQ(outcome.instructions, 12345u);
  EXPECT_EQ(outcome.location, "line 10 of the PTX");
  launch.instruction_limit = 1024;  // the second thread has not begun
  EXPECT_EQ(module->run(launch, device).thread_index.x, 1u);
  launch.kernel = "k";
  launch.instruction_limit = 0;
  const std::unique_ptr<Module> ends = Module::parse(kernel_of(""));
  expect_no_fault(ends->run(launch, device));
}

TEST(SimulatedFaults, UnsupportedOnlyWhenExecuted) {
  const std::vector<std::string> instructions{
      "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%f1, %f2}, {%r1}, {%r2}, {%f1};",
      "mma.sp.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r1, %r2}, {%r1, %r2}, {%r1, %r2}, {%r1, %r2}, "
      "%r3, 0x0;",
      "cp.reduce.async.bulk.global.shared::cta.bulk_group.inc.u64 [%rd1], [%r2], 16;",
      "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.min.u64 [%r1], [%r2], "
      "16, [%r3];",
      "cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.im2col_no_offs.bulk_group [%rd1, {%r1}], [%r2];",
      "cp.async.ca.shared.global.unheard [%r2], [%rd1], 16;",
      "ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8 {%r1, %r2, %r3, %r4}, [%r5];",
      "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, %r1, 0, %p1, "
      "1, 1, 0, 0;",
      "cp.async.bulk.tensor.3d.shared::cluster.global.im2col::w.mbarrier::complete_tx::bytes [%r1], [%rd1, "
      "{%r2, "
      "%r3, %r4}], [%r5], {%h1};",
      "tex.cube.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1, %f2, %f3, %f4}];",
      "tld4.r.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1, %f2}];",
      "sust.p.2d.b32.trap [%rd1, {%r1, %r2}], {%r3};",
      "sust.b.2d.b32.clamp [%rd1, {%r1, %r2}], {%r3};",
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.unheard [%r1], "
      "[%rd1], 16, [%r3], %h1;",
      "mbarrier.arrive.unheard.shared.b64 %rd2, [%r2];",
      "barrier.cluster.arrive.unheard;",
      "add.rn.f32.unheard %f1, %f1, %f1;",
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.unheard.u32 [%r1], %r2, [%r3];",
  };
  for (const std::string& instruction : instructions) {
    const std::string name = instruction.substr(0, instruction.find_first_of(" ;"));
    const Outcome outcome = run_body("setp.eq.u32 %p1, %r1, 3; @%p1 " + instruction, {8});
    expect_fault(outcome, Fault::unsupported, name);
    EXPECT_EQ(outcome.thread_index.x, 3u);
    expect_no_fault(run_body("setp.eq.u32 %p1, %r1, 300; @%p1 " + instruction, {8}));
  }
  expect_fault(run_body("{ .param .b64 n; .param .b64 r; st.param.b64 [n], 8; call.uni (r), unheard, (n); }",
                        {}, {}, ".extern .func (.param .b64 r) unheard (.param .b64 n);"),
               Fault::unsupported, "call.uni unheard");
}

TEST(SimulatedFaults, AKernelThatLaunchesAKernel) {
  const std::string before =
      ".extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2 (.param .b64 f, .param .align 4 .b8 "
      "g[12], "
      ".param .align 4 .b8 b[12], .param .b32 s);\n.visible .entry child() { ret; }\n";
  expect_fault(
      run_body("mov.u64 %rd2, child; { .param .b64 f; .param .align 4 .b8 g[12]; .param .align 4 .b8 b[12]; "
               ".param .b32 s; .param .b64 r; st.param.b64 [f], %rd2; st.param.b32 [s], 0; call.uni (r), "
               "__cudaCDP2GetParameterBufferV2, (f, g, b, s); }",
               {}, {}, before),
      Fault::unsupported, "call.uni __cudaCDP2GetParameterBufferV2 (a kernel that launches a kernel)");
}

TEST(SimulatedFaults, CallsThatGoWrong) {
  expect_fault(run_body("call forever;", {}, {}, ".func forever() { call forever; ret; }"), Fault::trap,
               "more stack");
  expect_fault(run_body("mov.u64 %rd2, 0; call %rd2;"), Fault::trap, "which is not a function");
  expect_fault(run_body("t: .branchtargets a; mov.u32 %r2, 1; brx.idx %r2, t; a:"), Fault::trap,
               "brx.idx with index 1 of 1 targets");
}

TEST(SimulatedFaults, LocationsOfTheSource) {
  const Outcome outcome = run_body(
      ".loc 2 17 3\nst.global.u32 [%rd1], 1;\n.loc 1 18 5, function_name $L__info0, inlined_at 2 4 "
      "1\nst.global.u32 [%rd1+1024], 1;",
      {}, {}, ".file 1 \"/src/other.cu\"\n.file 2 \"/src/kernel.cu\", 12345, 678\n");
  expect_fault(outcome, Fault::illegal_address, "past the end");
  EXPECT_EQ(outcome.location, "/src/other.cu:18");
}

// A function of a library that is inlined: the author's line is that of the call. `.loc` has one caller,
// which the `.loc` of the call itself may have, too.
TEST(SimulatedFaults, AnInlinedFunctionOfALibraryIsWhereItIsCalled) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(testing::TempDir()) / "opgate_inlined";
  fs::create_directories(folder / "include" / "detail");
  fs::create_directories(folder / "triton" / "language");
  std::ofstream(folder / "include" / "cuda_runtime.h");
  std::ofstream(folder / "triton" / "language" / "standard.py");
  const std::string files = ".file 1 \"" + (folder / "kernel.cu").string() + "\"\n.file 2 \"" +
                            (folder / "bin/../include/detail/shuffles.hpp").string() + "\"\n.file 3 \"" +
                            (folder / "triton/language/standard.py").string() + "\"\n.file 4 \"" +
                            (folder / "helpers/include/own.cuh").string() + "\"\n";
  const auto line = [&](const std::string& locations) {
    const Outcome outcome = run_body(locations + "st.global.u32 [%rd1+1024], 1;", {}, {}, files);
    return fs::path(outcome.location).filename().string();
  };
  const std::string call = ".loc 1 40 3\n";
  const std::string inlined = ", function_name $L__info0, inlined_at ";
  EXPECT_EQ(line(call + ".loc 2 99 5" + inlined + "1 40 3\n"), "kernel.cu:40");
  EXPECT_EQ(line(call + ".loc 2 99 5, function_name $L__info0+12, inlined_at 1 40 3\n"), "kernel.cu:40");
  EXPECT_EQ(line(call + ".loc 2 99 5" + inlined + "1 40 3\n.loc 3 7 1" + inlined + "2 99 5\n"),
            "kernel.cu:40");
  // The innermost line that is the author's.
  EXPECT_EQ(line(call + ".loc 4 12 5" + inlined + "1 40 3\n"), "own.cuh:12");
  EXPECT_EQ(line(call + ".loc 4 12 5" + inlined + "1 40 3\n.loc 2 99 5" + inlined + "4 12 5\n"),
            "own.cuh:12");
  // The latest call of two.
  EXPECT_EQ(line(call + ".loc 2 99 5" + inlined + "1 40 3\n.loc 1 50 3\n.loc 2 99 5" + inlined + "1 50 3\n"),
            "kernel.cu:50");
  // Nothing else is known of a kernel of the library itself, and of a caller that no line names.
  EXPECT_EQ(line(".loc 2 99 5\n"), "shuffles.hpp:99");
  EXPECT_EQ(line(".loc 3 7 1" + inlined + "2 99 5\n"), "standard.py:7");
  fs::remove_all(folder);
}

TEST(SimulatedFaults, MistakesOfTheCaller) {
  FakeDevice device;
  const std::unique_ptr<Module> module =
      Module::parse(kernel_of("ld.global.u32 %r2, [there];", ".global .u32 there;"));
  EXPECT_EQ(module->find("other"), nullptr);
  EXPECT_THROW(module->run(launch_of("other", {}, {}, Arguments()), device), std::runtime_error);
  EXPECT_THROW(module->run(launch_of("k", {}, {}, Arguments(1)), device), std::runtime_error);
  EXPECT_THROW(module->run(launch_of("k", {}, {}, Arguments(std::uint64_t{1})), device), std::runtime_error);
}

}  // namespace fault_test
}  // namespace opgate::simulator::tests
