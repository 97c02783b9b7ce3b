// Loads and stores in all spaces.
#include "fake_device.h"

namespace opgate::simulator::tests {
namespace memory_test {

TEST(SimulatedMemory, NarrowLoadsFillTheirRegister) {
  const std::vector<std::uint32_t> values = values_of(kernel_of(R"(
    mov.u32 %r2, 0x8180FFFE; st.global.u32 [%rd1], %r2;
    ld.global.u8 %r3, [%rd1]; st.global.u32 [%rd1+4], %r3;
    ld.global.s8 %r3, [%rd1]; st.global.u32 [%rd1+8], %r3;
    ld.global.u16 %r3, [%rd1+2]; st.global.u32 [%rd1+12], %r3;
    ld.global.s16 %r3, [%rd1+2]; st.global.u32 [%rd1+16], %r3;
    ld.global.s32 %rd2, [%rd1]; shr.u64 %rd2, %rd2, 32; st.global.u32 [%rd1+20], %rd2;
    ld.global.u32 %rd2, [%rd1]; shr.u64 %rd2, %rd2, 32; st.global.u32 [%rd1+24], %rd2;
    st.global.u8 [%rd1+28], %r2; st.global.u16 [%rd1+30], %r2;)"),
                                                      8, {});
  EXPECT_EQ(values, (std::vector<std::uint32_t>{0x8180fffe, 0xfe, 0xfffffffe, 0x8180, 0xffff8180, 0xffffffff,
                                                0, 0xfffe00fe}));
}

TEST(SimulatedMemory, VectorsAndHints) {
  const std::vector<std::uint32_t> values = values_of(kernel_of(R"(
    mov.u32 %r2, 10; mov.u32 %r3, 11; mov.u32 %r4, 12; mov.u32 %r5, 13;
    st.global.v4.u32 [%rd1], {%r2, %r3, %r4, %r5};
    ld.global.nc.L1::no_allocate.L2::128B.v2.b64 {%rd2, %rd3}, [%rd1];
    st.volatile.global.v2.b64 [%rd1+16], {%rd3, %rd2};
    ld.relaxed.gpu.global.v4.f32 {%f1, _, %f2, %f3}, [%rd1];
    st.release.sys.global.v2.f32 [%rd1+32], {%f3, %f1};
    ldu.global.v2.u16 {%h1, %h2}, [%rd1];
    st.global.v4.b8 [%rd1+40], {%h1, %h2, %h1, %h1};
    ld.global.ca.L2::cache_hint.u32 %r6, [%rd1+4], %rd2; st.global.wb.u32 [%rd1+44], %r6;)"),
                                                      12, {});
  EXPECT_EQ(values, (std::vector<std::uint32_t>{10, 11, 12, 13, 12, 13, 10, 11, 13, 10, 0x0a0a000a, 11}));
}

TEST(SimulatedMemory, VectorsOfEight) {
  const std::vector<std::uint32_t> values = values_of(kernel_of(R"(
    mov.u32 %r2, 1; mov.u32 %r3, 2; mov.u32 %r4, 3; mov.u32 %r5, 4; mov.u32 %r6, 5; mov.u32 %r7, 6;
    mov.u32 %r8, 7; mov.u32 %r9, 8;
    st.global.v8.b32 [%rd1+32], {%r9, %r8, %r7, %r6, %r5, %r4, %r3, %r2};
    ld.global.L1::evict_last.v8.f32 {%f1, %f2, %f3, _, %f5, %f6, %f7, %f8}, [%rd1+32];
    st.global.v2.f32 [%rd1], {%f1, %f8};
    ld.v8.u8 {%h1, %h2, %h3, %h4, %h5, %h6, %h7, %h8}, [%rd1];
    st.global.v4.b8 [%rd1+8], {%h1, %h5, %h5, %h1};)"),
                                                      16, {});
  EXPECT_EQ(values, (std::vector<std::uint32_t>{8, 1, 0x08010108, 0, 0, 0, 0, 0, 8, 7, 6, 5, 4, 3, 2, 1}));
}

TEST(SimulatedMemory, VectorsInRegisters) {
  const std::vector<std::uint32_t> values =
      values_of(kernel_of(
                    R"(
    .reg .v4 .b32 four; .reg .v2 .u32 two<2>; .reg.v4.u16 halves;
    mov.u32 four.x, 1; mov.u32 four.g, 2; mov.u32 four.z, 3; mov.u32 four.w, 4;
    st.global.v4.b32 [%rd1], four;
    { .reg .v2 .u32 four; mov.v2.u32 four, {7, 8}; add.u32 four.y, four.y, four.x; st.global.v2.u32 [%rd1+16], four; }
    ld.global.v2.u32 two0, [%rd1+8]; call (two1), added, (two0, four.x); st.global.v2.u32 [%rd1+24], two1;
    mov.v4.u16 halves, {1, 2, 3, 4}; mov.v4.u16 {%h1, %h2, %h3, %h4}, halves; mov.v4.u16 halves, {%h4, %h1, %h2, %h3};
    mov.b64 %rd2, halves; st.global.b64 [%rd1+32], %rd2; mov.b64 two0, %rd2; st.global.u32 [%rd1+40], two0.y;)",
                    R"(.func (.reg .v2 .u32 sums) added(.reg .v2 .u32 numbers, .reg .u32 more) {
    add.u32 sums.x, numbers.x, more; add.u32 sums.y, numbers.y, more; ret; })"),
                11, {});
  EXPECT_EQ(values, (std::vector<std::uint32_t>{1, 2, 3, 4, 7, 15, 4, 5, 0x10004, 0x30002, 0x30002}));
}

TEST(SimulatedMemory, VariablesOfFunctions) {
  FakeDevice device;
  const std::unique_ptr<Module> module = Module::parse(kernel_of(
      R"(
    .global .b32 numbers[4] = {1, 2, 3, 4}; .shared .b32 own[2];
    ld.global.b32 %r2, [numbers+4]; st.global.b32 [%rd1], %r2; st.global.b32 [numbers], 5;
    { .const .b32 numbers = 7;
      ld.const.b32 %r2, [numbers]; st.global.b32 [%rd1+4], %r2; }
    call given, (); ld.global.b32 %r2, [numbers]; st.global.b32 [%rd1+8], %r2;
    st.shared.b32 [own+4], 9; ld.shared.b32 %r2, [own+4]; st.global.b32 [%rd1+12], %r2;)",
      ".func given() { .reg .b64 %rd<3>; .global .b32 numbers = 8; mov.u64 %rd1, numbers; "
      "st.global.b32 [%rd1], 1; ret; }"));
  place_variables(*module, device);
  const std::uint64_t out = device.allocate(std::vector<std::uint32_t>(4));
  expect_no_fault(module->run(launch_of("k", {}, {}, Arguments(out)), device));
  EXPECT_EQ(device.read<std::uint32_t>(out), (std::vector<std::uint32_t>{2, 7, 5, 9}));
}

TEST(SimulatedMemory, SharedAndLocalAlsoByGenericAddresses) {
  const std::vector<std::uint32_t> values = values_of(kernel_of(R"(
    .shared .align 4 .b8 first[8]; .shared .u32 second;
    .local .align 8 .b8 depot[16];
    mov.u32 %r2, first; mov.u32 %r3, second;
    mov.u32 %r4, 5; st.shared.u32 [%r2+4], %r4; st.shared.u32 [second], 6;
    cvta.shared.u64 %rd2, first; ld.u32 %r5, [%rd2+4]; st.global.u32 [%rd1], %r5;
    cvt.u64.u32 %rd3, %r3; cvta.shared.u64 %rd3, %rd3; ld.u32 %r5, [%rd3]; st.global.u32 [%rd1+4], %r5;
    mov.u64 %rd4, depot; cvta.local.u64 %rd5, %rd4; st.u32 [%rd5+8], 7;
    ld.local.u32 %r5, [%rd4+8]; st.global.u32 [%rd1+8], %r5; ld.local.u32 %r5, [depot+8]; st.global.u32 [%rd1+12], %r5;
    cvta.to.shared.u64 %rd6, %rd2; cvt.u32.u64 %r6, %rd6; ld.shared.u32 %r5, [%r6+4]; st.global.u32 [%rd1+16], %r5;
    isspacep.shared %p1, %rd2; selp.u32 %r5, 1, 0, %p1; isspacep.local %p1, %rd5; selp.u32 %r6, 2, 0, %p1;
    isspacep.global %p1, %rd1; selp.u32 %r7, 4, 0, %p1; isspacep.global %p1, %rd5; selp.u32 %r8, 8, 0, %p1;
    add.u32 %r5, %r5, %r6; add.u32 %r5, %r5, %r7; add.u32 %r5, %r5, %r8; st.global.u32 [%rd1+20], %r5;
    ld.shared.u32 %r5, [first]; st.global.u32 [%rd1+24], %r5; ld.local.u32 %r5, [depot]; st.global.u32 [%rd1+28], %r5;)"),
                                                      8, {});
  // What was not written holds the fill byte.
  EXPECT_EQ(values, (std::vector<std::uint32_t>{5, 6, 7, 7, 5, 7, 0xffffffff, 0xffffffff}));
}

TEST(SimulatedMemory, LocalMemoryIsOfTheThread) {
  const std::vector<std::uint32_t> values = values_of(kernel_of(R"(
    .local .align 4 .b8 depot[4];
    st.local.u32 [depot], %r1; bar.sync 0; ld.local.u32 %r2, [depot];
    mul.wide.u32 %rd2, %r1, 4; add.u64 %rd2, %rd2, %rd1; st.global.u32 [%rd2], %r2;)"),
                                                      70, {70});
  for (std::uint32_t i = 0; i < 70; ++i) EXPECT_EQ(values[i], i);
}

TEST(SimulatedMemory, DynamicSharedMemoryBeginsBehindTheStatic) {
  const std::string ptx = kernel_of(R"(
    .shared .align 4 .b8 fixed[20];
    mov.u32 %r2, dynamic; st.global.u32 [%rd1], %r2; st.shared.u32 [dynamic+28], 9; ld.shared.u32 %r3, [%r2+28];
    st.global.u32 [%rd1+4], %r3; mov.u32 %r4, %dynamic_smem_size; st.global.u32 [%rd1+8], %r4;
    mov.u32 %r4, %total_smem_size; st.global.u32 [%rd1+12], %r4; st.shared.u32 [fixed+16], 1;
    mov.u32 %r4, dynamic+8; st.global.u32 [%rd1+16], %r4;)",
                                    ".extern .shared .align 16 .b8 dynamic[];");
  EXPECT_EQ(values_of(ptx, 5, {}, {}, 32), (std::vector<std::uint32_t>{32, 9, 32, 64, 40}));
  EXPECT_EQ(Module::parse(ptx)->find("k")->static_shared_bytes, 20u);
}

TEST(SimulatedMemory, SharedVariablesOfTheModuleCountWhereTheyAreUsed) {
  const std::unique_ptr<Module> module = Module::parse(R"(.version 8.0 .target sm_80 .address_size 64
    .shared .align 4 .b8 a[100]; .shared .align 8 .f64 b;
    .func uses_b() { .reg .f64 %d; ld.shared.f64 %d, [b]; ret; }
    .entry neither() { ret; }
    .entry first() { .reg .u32 %r; ld.shared.u32 %r, [a]; ret; }
    .entry both() { .reg .u32 %r; ld.shared.u32 %r, [a]; call uses_b; ret; })");
  EXPECT_EQ(module->find("neither")->static_shared_bytes, 0u);
  EXPECT_EQ(module->find("first")->static_shared_bytes, 100u);
  EXPECT_EQ(module->find("both")->static_shared_bytes, 112u);
}

struct Mixed {
  std::uint8_t a;
  double b;
  std::uint16_t c;
};

TEST(SimulatedMemory, ParametersOfKernels) {
  const std::string ptx = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u8 small, .param .align 8 .b8 structure[24], .param .u64 .ptr .global .align 16 out, .param .f32 last)
{
  .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<3>; .reg .f64 %fd<3>;
  ld.param.u64 %rd1, [out];
  cvta.to.global.u64 %rd1, %rd1;
  ld.param.u8 %r1, [small]; st.global.u32 [%rd1], %r1;
  ld.param.f64 %fd1, [structure+8]; cvt.rzi.u32.f64 %r1, %fd1; st.global.u32 [%rd1+4], %r1;
  mov.b64 %rd2, structure; ld.param.u16 %r1, [%rd2+16]; st.global.u32 [%rd1+8], %r1;
  cvta.param.u64 %rd3, %rd2; ld.u16 %r1, [%rd3+16]; st.global.u32 [%rd1+12], %r1;
  ld.param.f32 %f1, [last]; st.global.f32 [%rd1+16], %f1;
  ret;
})";
  const std::unique_ptr<Module> module = Module::parse(ptx);
  const Signature& signature = *module->find("k");
  ASSERT_EQ(signature.parameters.size(), 4u);
  EXPECT_EQ(signature.parameters[1].offset, 8u);
  EXPECT_EQ(signature.parameters[2].offset, 32u);
  EXPECT_EQ(signature.parameter_bytes, 44u);
  FakeDevice device;
  const std::uint64_t out = device.allocate(std::vector<std::uint32_t>(5));
  expect_no_fault(run(device, ptx, {}, {}, Arguments(std::uint8_t{200}, Mixed{1, 77.5, 0xbeef}, out, 1.0f)));
  EXPECT_EQ(device.read<std::uint32_t>(out),
            (std::vector<std::uint32_t>{200, 77, 0xbeef, 0xbeef, 0x3f800000}));
}

TEST(SimulatedMemory, VariablesOfTheModule) {
  const std::string ptx = kernel_of(R"(
    ld.global.u32 %r2, [counter]; st.global.u32 [%rd1], %r2; ld.const.u16 %r2, [table+2]; st.global.u32 [%rd1+4], %r2;
    ld.global.u64 %rd2, [pointer_to_counter]; ld.global.u32 %r2, [%rd2+4]; st.global.u32 [%rd1+8], %r2;
    mov.u64 %rd3, counter+4; ld.global.u32 %r2, [%rd3]; st.global.u32 [%rd1+12], %r2; st.global.u32 [counter], 99;)",
                                    R"(.visible .global .align 4 .u32 counter[2] = {7, 0x10};
    .const .align 2 .u16 table[4] = {1, 2, {3}};
    .global .align 8 .u64 pointer_to_counter = generic(counter);
    .global .align 4 .f32 numbers[2] = {0f3F800000};
    .global .align 1 .b8 empty[5];)");
  const std::unique_ptr<Module> module = Module::parse(ptx);
  const std::vector<Variable> variables = module->variables();
  ASSERT_EQ(variables.size(), 5u);
  EXPECT_EQ(variables[0].name, "counter");
  EXPECT_EQ(variables[0].bytes, 8u);
  EXPECT_EQ(variables[0].initial, (std::vector<unsigned char>{7, 0, 0, 0, 16, 0, 0, 0}));
  EXPECT_TRUE(variables[1].constant);
  EXPECT_EQ(variables[1].initial, (std::vector<unsigned char>{1, 0, 2, 0, 3, 0, 0, 0}));
  EXPECT_EQ(variables[3].initial, (std::vector<unsigned char>{0, 0, 0x80, 0x3f, 0, 0, 0, 0}));
  EXPECT_TRUE(variables[4].initial.empty());
  FakeDevice device;
  std::map<std::string, std::uint64_t> addresses;
  for (const Variable& variable : variables) {
    std::vector<unsigned char> bytes = variable.initial;
    bytes.resize(variable.bytes);
    module->place(variable.name, addresses[variable.name] = device.allocate(bytes));
  }
  const std::uint64_t out = device.allocate(std::vector<std::uint32_t>(4));
  expect_no_fault(module->run(launch_of("k", {}, {}, Arguments(out)), device));
  EXPECT_EQ(device.read<std::uint32_t>(out), (std::vector<std::uint32_t>{7, 2, 16, 16}));
  EXPECT_EQ(device.read<std::uint32_t>(addresses["counter"]), (std::vector<std::uint32_t>{99, 16}));
}

TEST(SimulatedMemory, FewQuestionsToTheDevice) {
  FakeDevice device;
  const std::uint64_t memory = device.allocate(std::vector<std::uint32_t>(4096));
  const std::string ptx =
      kernel_of(R"(mov.u32 %r2, %ctaid.x; mad.lo.u32 %r2, %r2, 128, %r1; mul.wide.u32 %rd2, %r2, 4;
    add.u64 %rd2, %rd2, %rd1; st.global.u32 [%rd2], %r2;)");
  expect_no_fault(run(device, ptx, {32}, {128}, Arguments(memory)));
  EXPECT_EQ(device.questions, 1);
  EXPECT_EQ(device.read<std::uint32_t>(memory)[4095], 4095u);
}

}  // namespace memory_test
}  // namespace opgate::simulator::tests
