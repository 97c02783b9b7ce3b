// The tool `init`: loads of unwritten memory are reported if the values matter, and name where.
#include "watched.h"

namespace opgate::simulator::tests {
namespace unwritten_value_test {

constexpr const char* kLoad = ".shared .align 16 .b8 s[4096]; ld.shared.b32 %r2, [s];\n";

std::vector<Finding> found_by(const std::string& body, Extent block = {32}) {
  return findings_of(kernel_of(kLoad + body), {1}, block, {.init = true});
}

// The load, and the instruction to which its value matters.
void expect_use(const std::string& body, const std::string& user, Extent block = {32}) {
  const std::vector<Finding> found = found_by(body, block);
  ASSERT_EQ(found.size(), 1u) << body << in_lines(found);
  EXPECT_EQ(found[0].place.instruction, "ld.shared.b32") << body;
  ASSERT_TRUE(found[0].other.has_value()) << body;
  EXPECT_EQ(found[0].other->instruction, user) << body;
}

void expect_no_use(const std::string& body, Extent block = {32}) {
  const std::vector<Finding> found = found_by(body, block);
  EXPECT_TRUE(found.empty()) << body << in_lines(found);
}

constexpr const char* kHost = "a copy to the host";

TEST(SimulatedUnwrittenValue, ThatIsNeverReadIsNoMistake) {
  expect_no_use("");
  expect_no_use("add.u32 %r3, %r2, 1; mul.lo.u32 %r4, %r3, %r3;");
  expect_no_use("st.shared.b32 [s+4], %r2; ld.shared.b32 %r3, [s+4];");
  // What is stored first is replaced.
  expect_no_use("st.global.b32 [%rd1], %r2; st.global.b32 [%rd1], 3;");
  expect_no_use("mov.b32 %r2, 5; st.global.b32 [%rd1], %r2; setp.eq.u32 %p1, %r2, 5; @%p1 bra end; end:");
}

TEST(SimulatedUnwrittenValue, ThatTheHostReads) {
  expect_use("st.global.b32 [%rd1], %r2;", kHost);
  expect_use("st.global.v2.b32 [%rd1+8], {%r1, %r2};", kHost);
  expect_use("st.global.b8 [%rd1+1], %r2;", kHost);
  expect_use("st.shared.b32 [s+4], %r2; ld.shared.b32 %r3, [s+4]; st.global.b32 [%rd1], %r3;", kHost);
  expect_use("mov.b32 %f1, %r2; fma.rn.f32 %f2, %f1, 0f3F800000, 0f3F800000; st.global.f32 [%rd1], %f2;",
             kHost);
  expect_use("cvt.s64.s32 %rd2, %r2; shr.u64 %rd2, %rd2, 40; st.global.b32 [%rd1], %rd2;", kHost);
}

TEST(SimulatedUnwrittenValue, ThatDecides) {
  expect_use("setp.gt.u32 %p1, %r2, 5; @%p1 bra end; add.u32 %r3, %r1, 1; end:", "bra");
  expect_use("setp.gt.u32 %p1, %r2, 0; @!%p1 bra end; add.u32 %r3, %r1, 1; end:", "bra");
  expect_use("setp.gt.u32 %p1, %r2, 5; @%p1 st.global.b32 [%rd1], 1;", "st.global.b32");
  expect_use(
      "and.b32 %r3, %r2, 15; ts: .branchtargets a, b; setp.gt.u32 %p1, %r3, 7; selp.u32 %r3, 1, 0, %p1;\n"
      "brx.idx %r3, ts; a: b:",
      "brx.idx");
  expect_use(
      "and.b32 %r3, %r2, 60; cvt.u64.u32 %rd2, %r3; add.u64 %rd2, %rd1, %rd2; ld.global.b32 %r4, [%rd2];",
      "ld.global.b32");
  expect_use(
      "and.b32 %r3, %r2, 60; cvt.u64.u32 %rd2, %r3; add.u64 %rd2, %rd1, %rd2; st.global.b32 [%rd2], 1;",
      "st.global.b32");
  expect_use("red.global.add.u32 [%rd1], %r2;", "red.global.add.u32");
  expect_use(
      "vote.sync.any.pred %p2, %p1, -1; setp.eq.u32 %p1, %r2, 3; vote.sync.any.pred %p2, %p1, -1; @%p2 bra "
      "end; end:",
      "bra");
}

TEST(SimulatedUnwrittenValue, ThatIsReplacedIsNoMistake) {
  const std::string store = "st.global.b32 [%rd1], %r3;";
  const std::string never = "setp.gt.u32 %p1, %r1, 100;\n";
  expect_no_use(never + "selp.b32 %r3, %r2, 7, %p1;" + store);
  expect_use("setp.lt.u32 %p1, %r1, 100; selp.b32 %r3, %r2, 7, %p1;" + store, kHost);
  expect_use("setp.lt.u32 %p1, %r2, 100; selp.b32 %r3, 6, 7, %p1;" + store, kHost);
  expect_no_use("setp.lt.u32 %p1, %r2, 100; selp.b32 %r3, 7, 7, %p1;" + store);
  expect_no_use("and.b32 %r3, %r2, 0;" + store);
  expect_no_use("or.b32 %r3, %r2, -1;" + store);
  expect_no_use("lop3.b32 %r3, %r2, %r1, 0, 0x80;" + store);
  expect_use("lop3.b32 %r3, %r2, %r1, -1, 0x96;" + store, kHost);
  // A comparison counts only inside of bounds.
  expect_no_use(never + "setp.gt.u32 %p2, %r2, 5; and.pred %p3, %p2, %p1; @%p3 bra end; " + store + " end:");
  expect_no_use(never + "mov.b32 %r3, 4; @%p1 mov.b32 %r3, %r2; " + store);
}

TEST(SimulatedUnwrittenValue, OnlyItsOwnBits) {
  const std::string halves = "st.shared.b16 [s], 1; ld.shared.b32 %r2, [s];\n";
  const std::string lower = "st.global.b16 [%rd1], %h1;";
  const auto expect_upper = [&](const std::string& body) {
    expect_no_use(halves + body + "mov.b32 {%h1, %h2}, %r3;" + lower);
    const std::vector<Finding> found =
        found_by(halves + body + "mov.b32 {%h1, %h2}, %r3; st.global.b16 [%rd1], %h2;");
    EXPECT_EQ(found.size(), 1u) << body << in_lines(found);
  };
  expect_upper("mov.b32 %r3, %r2;");
  expect_upper("add.rn.f16x2 %r3, %r2, %r2;");
  expect_upper("fma.rn.bf16x2 %r3, %r2, %r2, %r2;");
  expect_upper("prmt.b32 %r3, %r2, %r2, 0x7610;");
  expect_upper("shl.b32 %r4, %r2, 8; shr.u32 %r3, %r4, 8;");
  expect_upper(
      "mov.b32 {%h3, %h4}, %r2; cvt.f32.f16 %f1, %h3; cvt.f32.f16 %f2, %h4; cvt.rn.bf16x2.f32 %r3, %f2, "
      "%f1;");
  expect_upper("mov.b64 %rd2, {%r1, %r2}; shr.u64 %rd2, %rd2, 32; cvt.u32.u64 %r3, %rd2;");
  expect_no_use(halves + "and.b32 %r3, %r2, 0xffff; st.global.b32 [%rd1], %r3;");
}

TEST(SimulatedUnwrittenValue, OfOneLane) {
  // Each lane has a word of its own, of which that of lane 3 is not written.
  const std::string load =
      "shl.b32 %r5, %r1, 2; mov.u32 %r6, s; add.u32 %r6, %r6, %r5; setp.ne.u32 %p1, %r1, 3; @%p1 "
      "st.shared.b32 "
      "[%r6], %r1; ld.shared.b32 %r2, [%r6];\n";
  const auto found = [&](const std::string& shuffle, int stores) {
    return found_by(load + shuffle + "setp.eq.u32 %p2, %r1, " + std::to_string(stores) +
                    "; @%p2 st.global.b32 [%rd1], %r3;");
  };
  EXPECT_EQ(found("shfl.sync.bfly.b32 %r3, %r2, 1, 31, -1;", 2).size(), 1u);
  EXPECT_EQ(found("shfl.sync.bfly.b32 %r3, %r2, 1, 31, -1;", 3).size(), 0u);
  EXPECT_EQ(found("shfl.sync.idx.b32 %r2, %r2, 3, 31, -1; mov.b32 %r3, %r2;", 9).size(), 1u);
  EXPECT_EQ(found("shfl.sync.idx.b32 %r3, %r1, %r2, 31, -1;", 3).size(), 1u);
  EXPECT_EQ(found("redux.sync.add.u32 %r3, %r2, -1;", 9).size(), 1u);
}

// Row i of `a` is what lanes 4 i to 4 i + 3 hold, and reaches the sums of the same lanes.
TEST(SimulatedUnwrittenValue, InAProductOfMatrices) {
  const std::string load =
      "shl.b32 %r5, %r1, 2; mov.u32 %r6, s; add.u32 %r6, %r6, %r5; setp.ne.u32 %p1, %r1, 13; @%p1 "
      "st.shared.b32 "
      "[%r6], %r1; ld.shared.b32 %r2, [%r6]; mov.b32 %r7, 0;\n";
  const std::string multiply =
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r2, %r7, %r7, %r7}, {%r7, "
      "%r7}, "
      "{%f5, %f5, %f5, %f5};\n";
  const std::string in_halves =
      "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r3, %r4}, {%r2, %r7, %r7, %r7}, {%r7, %r7}, {%r7, "
      "%r7};\nmov.b32 %f1, %r3; mov.b32 %f3, %r4;";
  for (const std::string& product : {multiply, in_halves}) {
    const auto found = [&](const std::string& sum, int lane) {
      return found_by(load + "mov.b32 %f5, 0f00000000;" + product + "setp.eq.u32 %p2, %r1, " +
                      std::to_string(lane) + "; @%p2 st.global.f32 [%rd1], " + sum + ";")
          .size();
    };
    EXPECT_EQ(found("%f1", 12), 1u);
    EXPECT_EQ(found("%f1", 15), 1u);
    EXPECT_EQ(found("%f1", 16), 0u);
    EXPECT_EQ(found("%f3", 12), 0u);
  }
}

// Integers times 0 are 0, whatever the other factor is.
TEST(SimulatedUnwrittenValue, TimesZero) {
  const std::string store = "st.global.b32 [%rd1], %r3;";
  const std::string zero = "setp.gt.u32 %p1, %r1, 100; selp.b32 %r4, 1, 0, %p1;\n";
  for (const std::string product : {"mul.lo.u32 %r3, %r2, %r4;", "mul.hi.s32 %r3, %r4, %r2;",
                                    "mad.lo.s32 %r3, %r2, %r4, %r1;", "mul24.lo.u32 %r3, %r2, %r4;"})
    expect_no_use(zero + product + store);
  expect_no_use(zero + "mul.wide.u32 %rd2, %r2, %r4; cvt.u32.u64 %r3, %rd2;" + store);
  expect_use("mul.lo.u32 %r3, %r2, %r1;" + store, kHost);
  expect_use(zero + "mad.lo.u32 %r3, %r1, %r4, %r2;" + store, kHost);
  expect_use(zero + "mad.lo.u32 %r3, %r2, %r1, %r4;" + store, kHost);
  expect_use("mul.lo.u32 %r3, %r2, %r2;" + store, kHost);
  // 0 that came from unwritten memory is none, and a number of floating point may be NaN.
  EXPECT_EQ(found_by("ld.shared.b32 %r4, [s+64]; mul.lo.u32 %r3, %r2, %r4;" + store).size(), 2u);
  expect_use("mov.b32 %f1, %r2; mul.rn.f32 %f1, %f1, 0f00000000; mov.b32 %r3, %f1;" + store, kHost);
}

// Row i of `a` reaches the sums of the lanes 4 i to 4 i + 3, and column j of `b`, of the same lanes, the sums
// of each lane whose remainder by 4 is j / 2.
TEST(SimulatedUnwrittenValue, InAProductOfIntegers) {
  const std::string load =
      "shl.b32 %r5, %r1, 2; mov.u32 %r6, s; add.u32 %r6, %r6, %r5; setp.ne.u32 %p1, %r1, 13; @%p1 "
      "st.shared.b32 [%r6], %r1; ld.shared.b32 %r2, [%r6]; mov.b32 %r7, 0; mov.b32 %r8, -1;\n";
  const auto found = [&](const std::string& operands, const std::string& sum, int lane) {
    return found_by(load +
                    "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32 {%r10, %r11, %r12, %r13}, " +
                    operands + ";\nsetp.eq.u32 %p2, %r1, " + std::to_string(lane) +
                    "; @%p2 st.global.b32 [%rd1], " + sum + ";")
        .size();
  };
  const std::string of_a = "{%r2, %r7, %r7, %r7}, {%r8, %r8}, {%r7, %r7, %r7, %r7}";
  EXPECT_EQ(found(of_a, "%r10", 12), 1u);
  EXPECT_EQ(found(of_a, "%r11", 15), 1u);
  EXPECT_EQ(found(of_a, "%r10", 16), 0u);
  EXPECT_EQ(found(of_a, "%r12", 12), 0u);
  const std::string of_b = "{%r8, %r7, %r7, %r7}, {%r2, %r7}, {%r7, %r7, %r7, %r7}";
  EXPECT_EQ(found(of_b, "%r11", 1), 1u);
  EXPECT_EQ(found(of_b, "%r11", 29), 1u);
  EXPECT_EQ(found(of_b, "%r10", 1), 0u);
  EXPECT_EQ(found(of_b, "%r13", 1), 0u);
  const std::string of_c = "{%r8, %r8, %r8, %r8}, {%r8, %r8}, {%r7, %r2, %r7, %r7}";
  EXPECT_EQ(found(of_c, "%r11", 13), 1u);
  EXPECT_EQ(found(of_c, "%r11", 12), 0u);
  EXPECT_EQ(found(of_c, "%r10", 13), 0u);
  // All products with what is unwritten have a factor 0.
  EXPECT_EQ(found("{%r7, %r8, %r7, %r7}, {%r2, %r8}, {%r7, %r7, %r7, %r7}", "%r10", 1), 0u);
  EXPECT_EQ(found("{%r7, %r8, %r7, %r7}, {%r2, %r8}, {%r7, %r7, %r7, %r7}", "%r11", 1), 0u);
}

TEST(SimulatedUnwrittenValue, InARowOfAMatrix) {
  // Row 5 of the first matrix is not written.
  const std::string rows =
      "shl.b32 %r5, %r1, 4; mov.u32 %r6, s; add.u32 %r6, %r6, %r5; setp.ne.u32 %p1, %r1, 5; @%p1 "
      "st.shared.v4.b32 "
      "[%r6], {%r1, %r1, %r1, %r1}; bar.sync 0;\n";
  const auto found = [&](const std::string& body, const std::string& what, int lane) {
    return found_by(rows + body + "setp.eq.u32 %p2, %r1, " + std::to_string(lane) +
                    "; @%p2 st.global.b32 [%rd1], " + what + ";")
        .size();
  };
  const std::string load = "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r3, %r4}, [%r6];\n";
  EXPECT_EQ(found(load, "%r3", 20), 1u);
  EXPECT_EQ(found(load, "%r3", 19), 0u);
  EXPECT_EQ(found(load, "%r4", 20), 0u);
  const std::string transposed =
      "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r3, %r4}, [%r6]; mov.b32 {%h1, %h2}, %r3;\n";
  EXPECT_EQ(found(transposed + "cvt.u32.u16 %r7, %h2;", "%r7", 2), 1u);
  EXPECT_EQ(found(transposed + "cvt.u32.u16 %r7, %h1;", "%r7", 2), 0u);
  const std::string again = load +
                            "stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r6+1024], {%r3, %r4}; bar.sync 0; "
                            "ld.shared.b32 %r7, [%r6+1028];\n";
  EXPECT_EQ(found(again, "%r7", 5), 1u);
  EXPECT_EQ(found(again, "%r7", 4), 0u);
  EXPECT_EQ(
      found(load + "movmatrix.sync.aligned.m8n8.trans.b16 %r3, %r3; mov.b32 {%h1, %h2}, %r3; cvt.u32.u16 "
                   "%r7, %h2;",
            "%r7", 2),
      1u);
}

TEST(SimulatedUnwrittenValue, InAFragment) {
  const std::string load =
      "mov.u32 %r6, s; wmma.load.c.sync.aligned.row.m16n16k16.shared.f32 {%f1, %f2, %f3, %f4, "
      "%f5, %f6, %f7, %f8}, [%r6];\n";
  EXPECT_EQ(found_by("bar.sync 0;" + load).size(), 0u);
  const std::string store =
      "wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%rd1], {%f1, %f2, %f3, %f4, %f5, %f6, %f7, "
      "%f8};\n";
  EXPECT_EQ(found_by(load + store).size(), 1u);
  EXPECT_EQ(found_by(load + "mov.b32 %f1, 0f00000000; st.global.f32 [%rd1], %f1;").size(), 0u);
}

TEST(SimulatedUnwrittenValue, ThatIsCopiedLater) {
  const std::string copy =
      "mov.u32 %r6, s; st.shared.b32 [%r6+16], 1; cvt.u64.u32 %rd2, %r1; shl.b64 %rd2, %rd2, 4; "
      "add.u64 %rd2, %rd1, %rd2; st.global.b32 [%rd1+512], %r2; bar.sync 0; cp.async.ca.shared.global "
      "[%r6+16], "
      "[%rd1+512], 4; cp.async.wait_all; mov.b32 %r7, 0; st.global.b32 [%rd1+512], %r7;\n";
  expect_no_use(copy, {1});
  expect_use(copy + "ld.shared.b32 %r3, [%r6+16]; st.global.b32 [%rd1], %r3;", kHost, {1});
}

TEST(SimulatedUnwrittenValue, ThatACallHandsOver) {
  const std::string function =
      ".func (.param .b32 result) f(.param .b32 x, .param .b32 y) { .reg .b32 %r<4>; ld.param.u32 %r1, [x]; "
      "ld.param.u32 %r2, [y]; add.u32 %r2, %r2, 1; st.param.u32 [result], %r1; ret; }";
  const auto found = [&](const std::string& first, const std::string& second) {
    const std::string body =
        std::string(kLoad) + "{ .param .b32 a; .param .b32 b; .param .b32 c; st.param.u32 [a], " + first +
        "; st.param.u32 [c], " + second +
        "; call.uni (b), f, (a, c); ld.param.u32 %r3, [b]; }\nst.global.b32 [%rd1], %r3;";
    return findings_of(kernel_of(body, function), {1}, {32}, {.init = true}).size();
  };
  EXPECT_EQ(found("%r2", "%r1"), 1u);
  EXPECT_EQ(found("%r1", "%r2"), 0u);
}

TEST(SimulatedUnwrittenValue, OfTwoLoads) {
  const std::vector<Finding> found = found_by(
      "ld.shared.u16 %r3, [s+100]; add.u32 %r4, %r3, %r2; st.global.b32 [%rd1], %r4; ld.shared.u8 %r5, "
      "[s+200];");
  EXPECT_EQ(found.size(), 2u) << in_lines(found);
}

TEST(SimulatedUnwrittenValue, InMemoryOfTheHostAtOnce) {
  FakeDevice device;
  const std::uint64_t memory = device.allocate(std::vector<std::uint32_t>(64));
  Observer observer({.init = true});
  observer.set_host_memory([](std::uint64_t) { return true; });
  Launch launch = launch_of("k", {}, {1}, Arguments(memory));
  launch.observer = &observer;
  expect_no_fault(
      Module::parse(kernel_of(std::string(kLoad) + "st.global.b32 [%rd1], %r2;"))->run(launch, device));
  const std::vector<Finding> found = observer.take_findings();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].other->instruction, "st.global.b32");
}

// What a launch stores, another one loads: the first load is the cause.
TEST(SimulatedUnwrittenValue, ThroughTwoLaunches) {
  FakeDevice device;
  const std::uint64_t memory = device.allocate(std::vector<std::uint32_t>(64));
  Observer observer({.init = true});
  const auto run = [&](const std::string& body) {
    Launch launch = launch_of("k", {}, {1}, Arguments(memory));
    launch.observer = &observer;
    expect_no_fault(Module::parse(kernel_of(body))->run(launch, device));
  };
  run(std::string(kLoad) + "st.global.b32 [%rd1+64], %r2;");
  run("ld.global.b32 %r3, [%rd1+64]; add.u32 %r3, %r3, 1; st.global.b32 [%rd1], %r3; st.global.b32 "
      "[%rd1+64], 0;");
  EXPECT_TRUE(observer.take_findings().empty());
  observer.memory().copy_unwritten(memory + 8, memory, 4);
  observer.memory().mark_written(memory, 4);
  observer.read("aten::add", memory, 4);
  EXPECT_TRUE(observer.take_findings().empty());
  observer.read("aten::add", memory + 8, 4);
  const std::vector<Finding> found = observer.take_findings();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].place.instruction, "ld.shared.b32");
  EXPECT_EQ(found[0].other->instruction, "aten::add");
}

}  // namespace unwritten_value_test
}  // namespace opgate::simulator::tests
