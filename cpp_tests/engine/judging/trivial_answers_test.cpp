// Which answers without a kernel would pass for a sample.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "judging/all_checks.h"
#include "judging/calls/call_facts.h"
#include "judging/calls/judge_call.h"
#include "spec/spec.h"
#include "support.h"

namespace opgate::trivial_answers_test {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Optional;
using testing::spec_of;
using ::testing::UnorderedElementsAre;

using Answers = std::optional<std::vector<std::string>>;

// The trivial answers that pass for a call of opgate_test::`op`, which doubles its input.
Answers passing(Spec spec, c10::ScalarType dtype = c10::kFloat) {
  if (spec.reference == nullptr) SpecWriter(spec).reference([](at::Tensor x) { return x.mul_(2); });
  const std::vector<Check> all = native_checks();
  WorkerCache cache;
  std::optional<CallFacts> facts;
  judge_call({&spec, &spec.samples[0], dtype, c10::kCPU, "contiguous"}, {&find_check(all, "value.reference")},
             cache, &facts);
  return facts->trivial;
}

Spec doubled(Argument argument, const char* op = "doubled") {
  return spec_of(std::string("opgate_test::") + op, {{std::move(argument)}});
}

TEST(TrivialAnswers, NonePassesForValuesThatDiffer) {
  EXPECT_THAT(passing(doubled(uniform({4, 6}))), Optional(IsEmpty()));
}

TEST(TrivialAnswers, EachPassesForZeros) {
  EXPECT_THAT(passing(doubled(values({4, 6}, std::vector<double>(24)))),
              Optional(UnorderedElementsAre("zeros", "one value everywhere", "`x` unchanged",
                                            "results rounded to float16", "results rounded to bfloat16",
                                            "truncated results")));
}

TEST(TrivialAnswers, WholeNumbersCannotTellANarrowComputation) {
  EXPECT_THAT(passing(doubled(values({6}, {1, 2, 3, 4, 5, 6}))),
              Optional(UnorderedElementsAre("results rounded to float16", "results rounded to bfloat16",
                                            "truncated results")));
  // The results are of that dtype themselves.
  EXPECT_THAT(passing(doubled(values({6}, {1, 2, 3, 4, 5, 6})), c10::kHalf),
              Optional(UnorderedElementsAre("truncated results")));
}

TEST(TrivialAnswers, TheAccuracyOfTheSpecCounts) {
  Spec spec = doubled(uniform({4, 6}));
  spec.accuracy = ulps(8192);  // 2^13: what float16 lacks beside float32
  EXPECT_THAT(passing(spec), Optional(Contains("results rounded to float16")));
  spec.accuracy = ulps(16);
  EXPECT_THAT(passing(spec), Optional(IsEmpty()));
}

TEST(TrivialAnswers, OtherValuesMustGiveOtherResults) {
  const auto passing_for = [](Argument argument) {
    Spec spec = spec_of("aten::sign", {{std::move(argument)}});
    SpecWriter(spec).reference([](const at::Tensor& x) { return x.sign(); });
    return passing(spec);
  };
  const char* other = "results for other values";
  EXPECT_THAT(passing_for(uniform({4, 6}, 1, 2)), Optional(Contains(other)));
  EXPECT_THAT(passing_for(uniform({4, 6})), Optional(Not(Contains(other))));
  // There are no other values of numbers that the spec has written.
  EXPECT_THAT(passing_for(values({3}, {1, 2, 3})), Optional(Not(Contains(other))));
}

TEST(TrivialAnswers, AnOperatorThatWritesNothingLeavesItsArgument) {
  EXPECT_THAT(passing(doubled(values({4, 6}, std::vector<double>(24)), "double_in_place")),
              Optional(Contains("`x` unchanged")));
  EXPECT_THAT(passing(doubled(values({6}, {0, 1, 2, 3, 4, 5}), "double_in_place")),
              Optional(Not(Contains("`x` unchanged"))));
}

TEST(TrivialAnswers, WithoutElementsThereIsNothingToTell) {
  EXPECT_EQ(passing(doubled(uniform({0, 6}))), std::nullopt);
}

TEST(TrivialAnswers, AWrongScaleIsLeftToTheCheckThatAsks) {
  Spec spec = doubled(uniform({4, 6}));
  SpecWriter(spec).accuracy(ulps(4), [](const at::Tensor&) -> at::Tensor { throw std::runtime_error("no"); });
  EXPECT_EQ(passing(spec), std::nullopt);
}

TEST(TrivialAnswers, FactsAreReadAsTheyWereWritten) {
  CallFacts facts{{"float32 [4] strides (1)"}, ""};
  EXPECT_EQ(nlohmann::json(facts).get<CallFacts>().trivial, std::nullopt);
  facts.trivial.emplace();
  EXPECT_THAT(nlohmann::json(facts).get<CallFacts>().trivial, Optional(IsEmpty()));
  facts.trivial->push_back("zeros");
  EXPECT_THAT(nlohmann::json(facts).get<CallFacts>().trivial, Optional(UnorderedElementsAre("zeros")));
}

}  // namespace
}  // namespace opgate::trivial_answers_test
