// Functions that compiled kernels call: they do not leave compiled code, and wherever a thread is left in
// one, its frames are those of the interpreter.
#include "both_ways.h"

namespace opgate::simulator::tests {
namespace compiled_calls_test {

const std::string kFunctions = R"(
.func (.param .b32 result) scaled(.param .b32 value, .param .b32 by);
.func (.param .align 8 .b8 result[12]) pair(.param .align 8 .b8 value[12], .param .b32 more)
{
  .reg .b32 %r<9>; .reg .b64 %rd<3>; .reg .pred %p;
  ld.param.u32 %r1, [value]; ld.param.u64 %rd1, [value+8]; ld.param.u32 %r2, [more]; ld.param.u32 %r7, [value+4];
  mov.u32 %r5, 0;
again:
  { .param .b32 in; .param .b32 by; .param .b32 out; st.param.b32 [in], %r1; st.param.b32 [by], %r5;
  call.uni (out), scaled, (in, by); ld.param.b32 %r1, [out]; }
  { .param .b32 in; .param .b32 by; .param .b32 out; st.param.b32 [in], %r7; st.param.b32 [by], %r1;
  call.uni (out), scaled, (in, by); ld.param.b32 %r7, [out]; }
  add.u32 %r5, %r5, 1; setp.lt.u32 %p, %r5, %r2; @%p bra again;
  st.param.b32 [result], %r1; st.param.b32 [result+4], %r7; st.param.b32 [result+8], %r5; ret;
}
.func (.param .b32 result) scaled(.param .b32 value, .param .b32 by)
{
  .reg .b32 %r<5>; .reg .pred %p;
  ld.param.u32 %r1, [value]; ld.param.u32 %r2, [by]; setp.gt.u32 %p, %r2, 100000;
  @%p bra other; mad.lo.u32 %r3, %r1, 0x9e3779b1, %r2; st.param.b32 [result], %r3; ret;
other: xor.b32 %r3, %r1, %r2; st.param.b32 [result], %r3; ret;
}
.func (.reg .b32 r) in_registers(.reg .b32 a, .reg .b64 b) { .reg .b32 %r<3>; cvt.u32.u64 %r1, b; add.u32 r, a, %r1; ret; }
.func (.param .b32 result) unset(.param .b32 value)
{
  .reg .b32 %r<5>; .reg .pred %p; .local .align 4 .b8 kept[20];
  ld.param.u32 %r1, [value]; setp.gt.u32 %p, %r1, 40; @%p mov.u32 %r2, 7; ld.local.u32 %r3, [kept+16]; add.u32 %r2, %r2, %r3;
  st.local.u32 [kept+16], %r1; st.param.b32 [result], %r2; ret;
}
.func changes(.param .b64 where, .param .b32 by)
{
  .reg .b64 %rd; .reg .b32 %r<4>; ld.param.u64 %rd, [where]; ld.param.u32 %r1, [by];
  ld.u32 %r2, [%rd]; add.u32 %r2, %r2, %r1; st.u32 [%rd], %r2; ret;
}
.func (.param .b32 result) depth(.param .b32 value)
{
  .reg .b32 %r<9>; .reg .pred %p;
  ld.param.u32 %r1, [value]; mov.u32 %r2, 0; setp.eq.u32 %p, %r1, 0; @%p bra end;
  { .param .b32 in; .param .b32 out; add.u32 %r3, %r1, -1; st.param.b32 [in], %r3; call (out), depth, (in); ld.param.b32 %r2, [out]; }
  mad.lo.u32 %r2, %r2, 3, %r1;
end: st.param.b32 [result], %r2; ret;
}
.func (.param .b32 result) meets(.param .b32 value)
{
  .reg .b32 %r<9>; .reg .pred %p; ld.param.u32 %r1, [value]; bar.sync 0; shfl.sync.bfly.b32 %r2|%p, %r1, 1, 31, -1;
  mov.u32 %r3, %tid.x; mad.lo.u32 %r2, %r2, 5, %r3; { .param .b32 in; .param .b32 by; .param .b32 out; st.param.b32 [in], %r2; st.param.b32 [by], %r3;
  call (out), scaled, (in, by); ld.param.b32 %r2, [out]; } st.param.b32 [result], %r2; ret;
}
.func (.param .b32 result) many(.param .b32 value)
{
  .reg .b32 %r<9>; .reg .pred %p; ld.param.u32 %r1, [value];
again: mad.lo.u32 %r1, %r1, 3, 7; shr.u32 %r2, %r1, 25; setp.ne.u32 %p, %r2, 5; @%p bra again; st.param.b32 [result], %r1; ret;
}
)";

std::string call_of(const std::string& function, const std::string& value, const std::string& result) {
  return "{ .param .b32 in; .param .b32 out; st.param.b32 [in], " + value + "; call (out), " + function +
         ", (in); ld.param.b32 " + result + ", [out]; }\n";
}

// %r2 counts rounds, %r3 is what is kept in memory.
std::string rounds(const std::string& body, int count) {
  return "mov.u32 %r2, 0; mov.u32 %r3, %r1; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd2, %rd2, %rd1;\nround:\n" +
         body + "\nadd.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, " + std::to_string(count) +
         "; @%p1 bra round; st.global.u32 [%rd2], %r3;";
}

Ran run_calls(const std::string& body, Extent block = {64}, std::uint64_t limit = 100'000'000,
              const std::string& functions = kFunctions) {
  return run_both_ways(kernel_of(body, functions),
                       [&](FakeDevice& device, std::vector<std::uint64_t>& results) {
                         results.push_back(device.allocate(std::vector<std::uint32_t>(256, 3)));
                         Launch launch = launch_of("k", {2}, block, Arguments(results.front()));
                         launch.instruction_limit = limit;
                         return launch;
                       });
}

const std::string kPair =
    "{ .param .align 8 .b8 in[12]; .param .b32 more; .param .align 8 .b8 out[12];\n"
    "st.param.b32 [in], %r3; st.param.b32 [in+4], %r2; and.b32 %r4, %r3, 15; st.param.b32 [more], %r4;\n"
    "call.uni (out), pair, (in, more); ld.param.b32 %r5, [out]; ld.param.b32 %r6, [out+4]; ld.param.b32 %r7, "
    "[out+8]; }\n"
    "add.u32 %r3, %r5, %r6; add.u32 %r3, %r3, %r7;";

// Turns end in each of the functions, and after each of the calls.
TEST(CompiledCalls, NothingIsLeftToTheInterpreter) {
  const Ran pairs = run_calls(rounds(kPair, 300));
  expect_no_fault(pairs.outcome);
  EXPECT_GT(pairs.outcome.instructions, std::uint64_t{128} * 20'000);
  EXPECT_EQ(pairs.left_to_interpreter, 0u);
  EXPECT_EQ(run_calls(rounds("call (%r3), in_registers, (%r3, %rd1);", 500)).left_to_interpreter, 0u);
  EXPECT_EQ(
      run_calls(rounds(call_of("unset", "%r1", "%r4") + "add.u32 %r3, %r3, %r4;", 9)).left_to_interpreter,
      0u);
  EXPECT_EQ(run_calls(rounds(call_of("many", "%r3", "%r3"), 40)).left_to_interpreter, 0u);
}

// Deeper than compiled code calls functions, so that each level is left and entered again.
TEST(CompiledCalls, Recursion) {
  const Ran ran = run_calls(rounds("and.b32 %r4, %r3, 255;" + call_of("depth", "%r4", "%r3"), 5));
  expect_no_fault(ran.outcome);
  EXPECT_EQ(ran.left_to_interpreter, 0u);
}

TEST(CompiledCalls, TheStackEndsAlike) {
  const Ran ran = run_calls(call_of("depth", "5000", "%r3"));
  EXPECT_EQ(static_cast<int>(ran.outcome.fault), static_cast<int>(Fault::trap));
  const std::string large = R"(.func (.param .b32 result) large(.param .b32 value)
  { .reg .b32 %r<9>; .local .align 4 .b8 kept[3000]; ld.param.u32 %r1, [value]; st.local.u32 [kept], %r1;
  { .param .b32 in; .param .b32 out; st.param.b32 [in], %r1; call (out), large, (in); ld.param.b32 %r1, [out]; }
  st.param.b32 [result], %r1; ret; })";
  EXPECT_EQ(static_cast<int>(run_calls(call_of("large", "5", "%r3"), {64}, 100'000'000, large).outcome.fault),
            static_cast<int>(Fault::trap));
}

TEST(CompiledCalls, OfAddresses) {
  const std::string address = "mov.u64 %rd3, scaled; setp.gt.u32 %p2, %r3, 20; mov.u64 %rd4, pair; ";
  expect_no_fault(
      run_calls(address + rounds("{ .param .b32 in; .param .b32 by; .param .b32 out; st.param.b32 [in], %r3; "
                                 "st.param.b32 [by], %r2;\n"
                                 "p: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _);\n"
                                 "call (out), %rd3, (in, by), p; ld.param.b32 %r3, [out]; }",
                                 300))
          .outcome);
}

TEST(CompiledCalls, BarriersAndWarpsInFunctions) {
  expect_no_fault(run_calls(rounds(call_of("meets", "%r3", "%r3") + kPair, 20), {96}).outcome);
  expect_no_fault(run_calls(rounds("bar.sync 0;" + kPair + "bar.sync 0;" + kPair, 20), {96}).outcome);
  expect_no_fault(
      run_calls(rounds(kPair + "shfl.sync.bfly.b32 %r3|%p2, %r3, 3, 31, -1;" + kPair, 20), {96}).outcome);
}

// What a function finds in its local memory, where it is told to write, and what its caller keeps.
TEST(CompiledCalls, LocalMemory) {
  const std::string changes =
      "{ .param .b64 where; .param .b32 by; st.param.b64 [where], %rd5; st.param.b32 [by], %r2; call "
      "changes, "
      "(where, by); }";
  const Ran ran = run_calls(
      ".local .align 4 .b8 kept[36]; mov.u64 %rd4, kept; cvta.local.u64 %rd5, %rd4; "
      "st.local.u32 [kept], %r1;\n" +
      rounds(changes + call_of("unset", "%r2", "%r4") + "ld.local.u32 %r5, [kept]; add.u32 %r3, %r4, %r5;",
             60));
  expect_no_fault(ran.outcome);
  // Past the end, before and after a call.
  for (const std::string before : {"", changes.c_str()}) {
    const Ran outside = run_calls(
        ".local .align 4 .b8 kept[36]; mov.u64 %rd4, kept; cvta.local.u64 %rd5, %rd4; "
        "mov.u32 %r2, 1; st.local.u32 [kept], %r1;\n" +
        before + before + "ld.local.u32 %r3, [%rd4+52]; st.global.u32 [%rd1], %r3;");
    EXPECT_EQ(static_cast<int>(outside.outcome.fault), static_cast<int>(Fault::trap));
  }
}

TEST(CompiledCalls, FaultsAndLimits) {
  const std::string faulty =
      "{ .param .b64 where; .param .b32 by; setp.eq.u32 %p2, %r1, 37; setp.eq.and.u32 "
      "%p2, %r2, 7, %p2; mov.u64 %rd5, %rd1; @%p2 add.u64 %rd5, %rd1, -4; "
      "st.param.b64 [where], %rd5; st.param.b32 [by], %r2; call changes, (where, by); }";
  EXPECT_EQ(static_cast<int>(run_calls(rounds(kPair + faulty, 20)).outcome.fault),
            static_cast<int>(Fault::illegal_address));
  for (const std::uint64_t limit : {100, 1024, 5000, 20000, 70001}) {
    const Outcome outcome = run_calls(rounds(kPair, 300), {64}, limit).outcome;
    EXPECT_EQ(static_cast<int>(outcome.fault), static_cast<int>(Fault::timeout));
    EXPECT_EQ(outcome.instructions, limit);
  }
}

}  // namespace compiled_calls_test
}  // namespace opgate::simulator::tests
