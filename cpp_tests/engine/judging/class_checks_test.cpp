// class.state, class.pickle and class.flatten each pass a correct class and fail one with a mistake
// (tiny_classes.cpp).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "classes/call_sequence.h"
#include "judging/all_checks.h"
#include "judging/calls/judge_call.h"
#include "judging/verdict.h"
#include "plan/plan.h"
#include "run/worker/worker.h"
#include "spec/spec.h"
#include "support.h"
#include "tiny_classes.h"

namespace opgate::class_checks_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::store_spec;

Judgement judge(const Spec& spec, const std::string& check, c10::ScalarType dtype = c10::kFloat) {
  const std::vector<Check> checks = native_checks();
  WorkerCache cache;
  return judge_call({&spec, &spec.samples[0], dtype, c10::kCPU, "contiguous"}, {&find_check(checks, check)},
                    cache)
      .at(check);
}

// The whole judgement in one string, so that a failed test shows all of it.
std::string said(const Judgement& judgement) {
  std::string text = std::string(to_string(judgement.verdict)) + ": " + judgement.reason;
  if (judgement.finding) {
    text +=
        judgement.finding->promised + " | " + judgement.finding->happened + " | " + judgement.finding->likely;
    for (const std::string& line : judgement.finding->detail) text += " | " + line;
  }
  return text;
}

std::string said(const std::string& name, const std::string& check) {
  return said(judge(store_spec(name), check));
}

TEST(ClassChecks, PassACorrectClassInEveryCaseOfItsPlan) {
  // One store is never full, one is full soon, and one takes nothing.
  const std::vector<Spec> specs{store_spec("Store", {100, 2, 0})};
  const std::vector<Check> checks = native_checks();
  WorkerCache cache;
  size_t judged = 0;
  for (const PlannedCall& call : make_plan(specs, checks).calls) {
    EXPECT_EQ(call.checks.size(), 3u) << call.id;
    for (const auto& [check, judgement] : judge_call(call.key, call.checks, cache)) {
      EXPECT_EQ(judgement.verdict, Verdict::pass) << call.id << "/" << check << " " << said(judgement);
      ++judged;
    }
  }
  EXPECT_EQ(judged, 3u * 3u * 2u);
}

TEST(ClassChecks, ArePlannedOnlyWhereTheClassIsExportedOrHasTheMethod) {
  const auto planned = [](const std::string& name) {
    const std::vector<Spec> specs{
        store_spec(name, {100}, [](ClassSpecWriter& spec) { spec.not_exported(); })};
    const std::vector<Check> checks = native_checks();
    std::vector<std::string> names;
    const Plan plan = make_plan(specs, checks);  // calls point into the specs
    for (const Check* check : plan.calls.checks(0)) names.push_back(check->name);
    return names;
  };
  EXPECT_THAT(planned("Bare"), ::testing::ElementsAre("class.state"));
  EXPECT_THAT(planned("Store"), ::testing::ElementsAre("class.flatten", "class.pickle", "class.state"));
}

TEST(ClassChecks, CannotJudgeAClassThatRefusesItsSample) {
  for (const char* check : {"class.state", "class.pickle", "class.flatten"}) {
    EXPECT_THAT(said(judge(store_spec("Store", {-1}), check)),
                AllOf(HasSubstr("invalid"), HasSubstr("Store refuses the constructor arguments 3,-1"),
                      HasSubstr("limit must not be negative")))
        << check;
  }
}

TEST(ClassState, FailsAWrongResultAndShowsTheShortestSequence) {
  EXPECT_THAT(said("Miscounts", "class.state"), AllOf(HasSubstr("fail"), HasSubstr("`put(3)`: got 2, want 3"),
                                                      HasSubstr("calls   put(3), put(3), put(3)")));
}

TEST(ClassState, FailsAKeptArgument) {
  EXPECT_THAT(said("KeepsArgument", "class.state"),
              AllOf(HasSubstr("fail"), HasSubstr("writes into the arguments after each call"),
                    HasSubstr("x.clone()"), HasSubstr("calls   put(3), get()")));
}

TEST(ClassState, FailsAKeptArgumentOfTheConstructor) {
  EXPECT_THAT(said("KeepsFirst", "class.state"),
              AllOf(HasSubstr("fail"), HasSubstr("writes into the arguments"), HasSubstr("calls   get()")));
}

TEST(ClassState, FailsAnArgumentThatIsWrittenTo) {
  EXPECT_THAT(said("WritesArgument", "class.state"),
              AllOf(HasSubstr("fail"), HasSubstr("`put(3)` changed argument 0: 3 of 3 elements differ")));
}

TEST(ClassState, FailsAReturnedBufferUnlessTheSpecSaysSo) {
  EXPECT_THAT(said("ReturnsBuffer", "class.state"),
              AllOf(HasSubstr("fail"), HasSubstr("the result of `get()` was changed by `put(3)`")));
  Spec spec = store_spec("ReturnsBuffer");
  for (ClassMethod& method : spec.torch_class->methods) method.may_share = method.name == "get";
  EXPECT_EQ(said(judge(spec, "class.state")), "pass: ");
}

TEST(ClassState, FailsStateThatObjectsShare) {
  EXPECT_THAT(said("SharesCount", "class.state"),
              AllOf(HasSubstr("fail"), HasSubstr("another object b is called in between"),
                    HasSubstr("objects share state")));
}

TEST(ClassState, FailsStateThatOutlivesTheObjectAndSaysSo) {
  EXPECT_THAT(said("CountsOn", "class.state"), AllOf(HasSubstr("fail"), HasSubstr("outlives the object")));
}

TEST(ClassState, WantsAnExceptionWhereTheModelRaisesOneAndNowhereElse) {
  EXPECT_THAT(said(judge(store_spec("NeverFull", {2}), "class.state")),
              AllOf(HasSubstr("fail"), HasSubstr("`put(3)`: got 3, want an exception: full")));
  EXPECT_THAT(said(judge(store_spec("FullEarly", {2}), "class.state")),
              AllOf(HasSubstr("fail"), HasSubstr("`put(3)`: raised: full before it is full")));
}

TEST(ClassState, ComparesWithinThePromisedAccuracy) {
  EXPECT_THAT(said("Rounds", "class.state"), AllOf(HasSubstr("fail"), HasSubstr("ulps)")));
  const Judgement judgement = judge(
      store_spec("Rounds", {100}, [](ClassSpecWriter& spec) { spec.accuracy(ulps(2)); }), "class.state");
  EXPECT_EQ(judgement.verdict, Verdict::pass);
  EXPECT_GT(judgement.worst_ulps, 0);
}

TEST(ClassPickle, FailsAMissingMethod) {
  EXPECT_THAT(said("Bare", "class.pickle"), AllOf(HasSubstr("fail"), HasSubstr(".def_pickle")));
}

TEST(ClassPickle, FailsAForgottenPartOfTheState) {
  EXPECT_THAT(said("ForgetsCount", "class.pickle"),
              AllOf(HasSubstr("fail"), HasSubstr("`put(3)` of the object made from the state: got 1, want 2"),
                    HasSubstr("before  put(3) | after   put(3)")));
}

TEST(ClassPickle, FailsAForgottenConstructorArgument) {
  EXPECT_THAT(said(judge(store_spec("ForgetsLimit", {1}), "class.pickle")),
              AllOf(HasSubstr("fail"), HasSubstr("want an exception: the store is full")));
  EXPECT_EQ(said("ForgetsLimit", "class.pickle"), "pass: ");  // 100 is the default, too
}

TEST(ClassPickle, FailsASharedTensor) {
  EXPECT_THAT(said("SharesPickled", "class.pickle"),
              AllOf(HasSubstr("fail"),
                    HasSubstr("of the original after further calls on the object made from its state"),
                    HasSubstr("both objects hold the same tensor")));
}

TEST(ClassPickle, FailsAStateThatGoesOnWithTheOriginal) {
  EXPECT_THAT(said("PicklesLive", "class.pickle"),
              AllOf(HasSubstr("fail"),
                    HasSubstr("of the object made from the state after further calls on the original")));
}

TEST(ClassPickle, FailsAGetstateThatChangesTheObject) {
  EXPECT_THAT(said("PickleClears", "class.pickle"), AllOf(HasSubstr("fail"), HasSubstr("of the original")));
}

TEST(ClassPickle, FailsASetstateThatRaises) {
  EXPECT_THAT(said("CannotUnpickle", "class.pickle"),
              AllOf(HasSubstr("fail"), HasSubstr("__setstate__ raised: version 2 of this state")));
}

TEST(ClassPickle, FailsAStateThatCannotBeWritten) {
  EXPECT_THAT(said("PicklesAnObject", "class.pickle"), HasSubstr("fail"));
}

TEST(ClassPickle, FailsAClassThatDoesNotRepeatItself) {
  EXPECT_THAT(said("CountsOn", "class.pickle"), AllOf(HasSubstr("fail"), HasSubstr("see class.state")));
}

TEST(ClassFlatten, FailsAMissingMethod) {
  EXPECT_THAT(said("Bare", "class.flatten"), AllOf(HasSubstr("fail"), HasSubstr("no __obj_flatten__")));
}

TEST(ClassFlatten, FailsWhatRaisesOrHasAnotherForm) {
  EXPECT_THAT(said("FlattenRaises", "class.flatten"),
              AllOf(HasSubstr("fail"), HasSubstr("raised: not any more"), HasSubstr("put(3)")));
  EXPECT_THAT(said("FlattensToList", "class.flatten"), AllOf(HasSubstr("fail"), HasSubstr("it is no tuple")));
}

TEST(ClassFlatten, FailsWhatIsOtherTheSecondTime) {
  EXPECT_THAT(said("FlattensItsTurn", "class.flatten"),
              AllOf(HasSubstr("fail"), HasSubstr("the second time: element 1: element 1: got 2, want 1")));
}

TEST(ClassFlatten, FailsWhatIsOtherForAnEqualObject) {
  EXPECT_THAT(said("FlattensItsNumber", "class.flatten"),
              AllOf(HasSubstr("fail"), HasSubstr("another object"), HasSubstr("serial number")));
}

TEST(ClassFlatten, FailsWhatChangesTheObject) {
  EXPECT_THAT(said("FlattenClears", "class.flatten"),
              AllOf(HasSubstr("fail"), HasSubstr("it does not change the object"), HasSubstr("`put(3)`")));
}

TEST(ClassFlatten, FailsAnOmittedPartOfTheState) {
  EXPECT_THAT(said("OmitsCount", "class.flatten"),
              AllOf(HasSubstr("fail"), HasSubstr("flatten to the same values"), HasSubstr("put(3)")));
}

TEST(ClassFlatten, FailsAnOmittedConstructorArgument) {
  const auto alike = [](ClassSpecWriter& spec) {
    spec.construct({uniform({3}, 0, 0), 100}).named("large").construct({uniform({3}, 0, 0), 0}).named("none");
  };
  EXPECT_THAT(said(judge(store_spec("OmitsLimit", {}, alike), "class.flatten")),
              AllOf(HasSubstr("fail"), HasSubstr("flatten to the same values"), HasSubstr("the one    none"),
                    HasSubstr("the other  large")));
  EXPECT_EQ(said("OmitsLimit", "class.flatten"), "pass: ");
}

TEST(RandomSequences, AreTheSameEachTimeAndHoldEveryCall) {
  const Spec spec = store_spec("Store", {100, 2});
  const CallKey key{&spec, &spec.samples[0], c10::kFloat, c10::kCPU, "contiguous"};
  CallKey other = key;
  other.sample = &spec.samples[1];
  const std::vector<Sequence> sequences = random_sequences(key, 3);
  EXPECT_NE(text_of(sequences[0]), text_of(sequences[1]));
  EXPECT_NE(text_of(sequences[0]), text_of(random_sequences(other, 1)[0]));
  EXPECT_EQ(text_of(sequences[2]), text_of(random_sequences(key, 3)[2]));
  EXPECT_THAT(text_of(sequences[0]), HasSubstr("put(3), "));
  for (const Sequence& sequence : sequences) {
    for (const MethodCall& call : every_call(key)) {
      EXPECT_TRUE(std::ranges::any_of(sequence, [&](const auto& c) { return c.method == call.method; }));
    }
  }
}

TEST(RandomSequences, GiveEachCallOtherValuesThatStayWithIt) {
  const Spec spec = store_spec("Store");
  const CallKey key{&spec, &spec.samples[0], c10::kFloat, c10::kCPU, "contiguous"};
  Sequence puts = random_sequences(key, 1)[0];
  std::erase_if(puts, [](const MethodCall& call) { return call.method->name != "put"; });
  ASSERT_GE(puts.size(), 2u);
  const auto values = [&](size_t i) { return arguments_of(key, puts[i]).at(0).toTensor(); };
  EXPECT_FALSE(testing::same_bits(values(0), values(1)));
  EXPECT_TRUE(testing::same_bits(values(1), values(1)));
}

}  // namespace
}  // namespace opgate::class_checks_test
