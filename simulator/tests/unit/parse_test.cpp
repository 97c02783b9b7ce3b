// What a module declares, and what cannot be read.
#include <gtest/gtest.h>

#include "fake_device.h"

namespace opgate::simulator::tests {
namespace parse_test {

const std::string kHead = ".version 8.0\n.target sm_80\n.address_size 64\n";

std::string error_of(const std::string& ptx, const std::string& kernel = "k") {
  try {
    Module::parse(ptx)->find(kernel);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "nothing";
}

TEST(SimulatedParsing, DeclarationsOfKernels) {
  const std::unique_ptr<Module> module = Module::parse(kHead + R"(
    // a comment { with braces
    /* and another }
       of two lines */
    .visible .entry second(.param .u32 a) .maxntid 16, 8 .minnctapersm 2 .pragma "some { text"; { ret; }
    .weak .entry first() .reqntid 64, 1, 1 .reqnctapercluster 2, 2, 1 .maxnreg 32 { .local .align 8 .b8 depot[24]; { ret; } }
    .entry third(.param .align 16 .b8 a[3], .param .f64 b) { ret; }
    .extern .func outside(.param .b32 x);
    .section .debug_str { info: .b8 99,0 })");
  EXPECT_EQ(module->kernels(), (std::vector<std::string>{"second", "first", "third"}));
  EXPECT_EQ(module->find("second")->max_threads, 128u);
  EXPECT_EQ(module->find("first")->max_threads, 64u);
  EXPECT_EQ(in_short(module->find("first")->required_cluster.value()), "2,2,1");
  EXPECT_EQ(module->find("first")->local_bytes, 24u);
  EXPECT_EQ(module->find("third")->max_threads, 1024u);
  EXPECT_EQ(module->find("third")->target, 80u);
  EXPECT_EQ(module->find("third")->parameters[1].offset, 8u);
  EXPECT_EQ(module->find("outside"), nullptr);
}

TEST(SimulatedParsing, TargetsOfOneArchitectureAlone) {
  const std::string entry = ".entry k() { ret; }";
  EXPECT_EQ(Module::parse(".version 8.6\n.target sm_90a\n" + entry)->find("k")->target, 90u);
  EXPECT_EQ(Module::parse(".version 9.0\n.target sm_120, debug\n" + entry)->find("k")->target, 120u);
}

TEST(SimulatedParsing, DeclarationsOfVariables) {
  const std::unique_ptr<Module> module = Module::parse(kHead + R"(
    .extern .global .align 4 .u32 later; .visible .global .align 4 .u32 later = 5;
    .global .attribute(.managed) .align 8 .b8 managed[12]; .global .align 16 .v4 .f32 vector[2]; .global .texref texture;
    .pragma "nounroll"; .alias other, function; .func .attribute(.unified(1, 2)) function() { ret; }
    .entry k() { call other; ret; })");
  const std::vector<Variable> variables = module->variables();
  ASSERT_EQ(variables.size(), 4u);
  EXPECT_EQ(variables[0].initial, (std::vector<unsigned char>{5, 0, 0, 0}));
  EXPECT_EQ(variables[1].alignment, 8u);
  EXPECT_EQ(variables[2].bytes, 32u);
  EXPECT_EQ(variables[3].bytes, 8u);
  EXPECT_NE(module->find("k"), nullptr);
}

TEST(SimulatedParsing, ErrorsOutsideOfFunctions) {
  EXPECT_EQ(error_of(kHead + "\n.unheard of"),
            "line 5 of the PTX: `.unheard` is not known outside of functions");
  EXPECT_EQ(error_of(kHead + ".global .align 3 .b8 x;"),
            "line 4 of the PTX: an alignment that is not a power of two");
  EXPECT_EQ(error_of(kHead + ".global x;"), "line 4 of the PTX: a declaration without a type");
  EXPECT_EQ(error_of(kHead + ".global .u32 x[2] = {1, 2,\n 3};"),
            "line 5 of the PTX: more values than `x` has elements");
  EXPECT_EQ(error_of(kHead + ".entry k() {\n {\n }"), "line 4 of the PTX: `{` without `}`");
  EXPECT_EQ(error_of(kHead + "/* open"), "line 4 of the PTX: a comment without an end");
  EXPECT_EQ(error_of(kHead + ".entry k(.param .u32 a\n ret"),
            "line 5 of the PTX: expected `,`, but found `ret`");
}

TEST(SimulatedParsing, ErrorsInBodies) {
  const auto in_body = [](const std::string& body) {
    return error_of(kHead + ".entry k()\n{\n.reg .u32 %r<3>; .reg .pred %p;\n" + body + "\n}\n");
  };
  EXPECT_EQ(in_body("ret;"), "nothing");
  EXPECT_EQ(in_body("add.u32 %r1, %r2, %r3;"), "line 7 of the PTX: `%r3` is not declared");
  EXPECT_EQ(in_body("add.u32 %r1, %r2;"), "line 7 of the PTX: `add.u32` takes 3 operands, not 2");
  EXPECT_EQ(in_body("\nadd.u32 %r1, %r2, ;"), "line 8 of the PTX: an operand is missing");
  EXPECT_EQ(in_body("add.u32 %r1, %r2, 09;"), "line 7 of the PTX: `09` is not a number");
  EXPECT_EQ(in_body("add.u32 %r1, %r2, 1 2;"), "line 7 of the PTX: expected `;` instead of `2`");
  EXPECT_EQ(in_body("ld.global.u32 %r1, [%r2 4];"), "line 7 of the PTX: expected `+`, but found `4`");
  EXPECT_EQ(in_body("mov.u32 %r1, %r2+4;"), "line 7 of the PTX: a sum with the register `%r2`");
  EXPECT_EQ(in_body("brx.idx %r1;"),
            "line 7 of the PTX: `brx.idx` takes an index and the name of a list of targets");
  EXPECT_EQ(in_body("bra nowhere;"), "line 7 of the PTX: the label `nowhere` does not exist");
  EXPECT_EQ(in_body("{ inner: } bra inner;"), "line 7 of the PTX: the label `inner` does not exist");
  EXPECT_EQ(in_body("add.u32 %r1, %r2, %r1"), "line 7 of the PTX: `add.u32` without `;`");
  EXPECT_EQ(in_body("call nothing;"), "line 7 of the PTX: `nothing` is not declared");
  EXPECT_EQ(in_body(".unheard 3;"), "line 7 of the PTX: `.unheard` is not known in a function");
  EXPECT_EQ(in_body("@%q add.u32 %r1, %r2, 1;"), "line 7 of the PTX: `%q` is not declared");
}

TEST(SimulatedParsing, OneBadKernelDoesNotSpoilTheOthers) {
  const std::unique_ptr<Module> module =
      Module::parse(kHead + ".entry bad() { add.u32 ; }\n.entry good() { ret; }");
  EXPECT_NE(module->find("good"), nullptr);
  EXPECT_THROW(module->find("bad"), std::runtime_error);
}

}  // namespace parse_test
}  // namespace opgate::simulator::tests
