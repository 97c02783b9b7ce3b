// Call ids: those of the plan are parsed back to the same call; others are refused with the part that is
// wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <opgate/error.h>

#include "inputs/call_key.h"
#include "judging/all_checks.h"
#include "plan/plan.h"
#include "spec/spec.h"
#include "support.h"

namespace opgate::call_key_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::message_of;
using testing::spec_of;

const std::vector<Spec>& specs() {
  static const std::vector<Spec> all{spec_of("opgate_ops::identity_conv", {{uniform({7})},
                                                                           {uniform({4, 8})},
                                                                           {uniform({2, 3, 257})},
                                                                           {uniform({1, 3, 16, 16})},
                                                                           {uniform({2, 3, 4, 5, 6})}}),
                                     spec_of("aten::add.Tensor", {{uniform({4}), uniform({4})}})};
  return all;
}

std::string refusal(const std::string& id) {
  return message_of<SetupError>([&] { parse_call_id(specs(), id); });
}

TEST(CallId, IsReadBackForEveryPlannedCall) {
  const std::vector<Check> checks = native_checks();
  const Plan plan = make_plan(specs(), checks);
  EXPECT_GT(plan.calls.size(), 100u);
  for (const PlannedCall& call : plan.calls) {
    const CallKey key = parse_call_id(specs(), call.id);
    EXPECT_EQ(key.spec, call.key.spec);
    EXPECT_EQ(key.sample, call.key.sample);
    EXPECT_EQ(key.dtype, call.key.dtype);
    EXPECT_EQ(key.device, call.key.device);
    EXPECT_EQ(key.variant, call.key.variant);
    EXPECT_EQ(call_id(key), call.id);
  }
}

TEST(CallId, IsWrittenInFiveParts) {
  const CallKey key{&specs()[0], &specs()[0].samples[2], c10::kBFloat16, c10::kCUDA, "x=stepped"};
  EXPECT_EQ(call_id(key), "identity_conv/bfloat16/2x3x257/x=stepped/cuda");
}

TEST(CallId, TakesTheFullNameOfAnOperatorToo) {
  EXPECT_EQ(parse_call_id(specs(), "opgate_ops::identity_conv/float32/7/contiguous/cpu").spec, &specs()[0]);
}

TEST(CallId, HasFiveParts) {
  for (const char* id : {"", "identity_conv", "identity_conv/float32/7/contiguous",
                         "identity_conv/float32/7/contiguous/cpu/value.layout", "////"}) {
    EXPECT_THAT(refusal(id), HasSubstr(std::string(id) == "////" ? "no spec for ''" : "is no call id"));
  }
}

TEST(CallId, NamesAnUnknownOperatorAndWhatThereIs) {
  EXPECT_THAT(refusal("identity/float32/7/contiguous/cpu"),
              AllOf(HasSubstr("no spec for 'identity'"), HasSubstr("identity_conv, add.Tensor")));
}

TEST(CallId, NamesAnUnknownDtype) {
  EXPECT_THAT(refusal("identity_conv/float/7/contiguous/cpu"),
              AllOf(HasSubstr("'float' is no dtype"), HasSubstr("torch.float32")));
}

TEST(CallId, NamesAnUnknownSampleAndWhatThereIs) {
  EXPECT_THAT(refusal("identity_conv/float32/8/contiguous/cpu"),
              AllOf(HasSubstr("has no sample '8'"), HasSubstr("7, 4x8, 2x3x257")));
}

TEST(CallId, NamesAnUnknownLayoutAndWhatThereIs) {
  EXPECT_THAT(refusal("identity_conv/float32/4x8/x=wavy/cpu"),
              AllOf(HasSubstr("sample 4x8 of identity_conv has no variant 'x=wavy'"),
                    HasSubstr("contiguous, "), HasSubstr("x=stepped")));
  EXPECT_THAT(refusal("identity_conv/float32/7/x=transposed/cpu"),
              HasSubstr("sample 7 of identity_conv has no variant 'x=transposed'"));
  EXPECT_THAT(refusal("identity_conv/float32/7/x=/cpu"), HasSubstr("no variant 'x='"));
}

TEST(CallId, NamesALayoutOfNoArgument) {
  for (const char* layout : {"stepped", "y=stepped", "=stepped", "", "Contiguous"}) {
    EXPECT_THAT(refusal(std::string("identity_conv/float32/7/") + layout + "/cpu"),
                HasSubstr(std::string("has no variant '") + layout + "'; there are: contiguous, x="));
  }
}

TEST(CallId, NamesAnUnknownDevice) {
  for (const char* device : {"gpu", "", "cuda:0", "CPU"}) {
    EXPECT_THAT(refusal(std::string("identity_conv/float32/7/contiguous/") + device),
                HasSubstr(std::string("'") + device + "' is none of the devices cpu, cuda, sim"));
  }
}

// The variant must be one that the plan has for this sample.
TEST(CallId, TakesNoLayoutThatThePlanDoesNotOffer) {
  EXPECT_NE(refusal("identity_conv/float32/7/x=contiguous/cpu"), "nothing was thrown");
  EXPECT_NE(refusal("add.Tensor/float32/4,4/self=empty-dim0/cpu"), "nothing was thrown");
}

TEST(ArgumentName, IsThatOfTheSchemaOrAPosition) {
  EXPECT_EQ(argument_name(specs()[0], 0), "x");
  EXPECT_EQ(argument_name(specs()[1], 1), "other");
  Spec model;
  model.kind = Spec::Kind::model;
  EXPECT_EQ(argument_name(model, 1), "input1");
}

}  // namespace
}  // namespace opgate::call_key_test
