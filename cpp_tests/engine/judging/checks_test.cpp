// Each native check passes a correct operator, and fails the defect that it is made for (tiny_ops.cpp).
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/library.h>

#include "judging/all_checks.h"
#include "judging/calls/judge_call.h"
#include "judging/verdict.h"
#include "plan/plan.h"
#include "run/worker/worker.h"
#include "spec/spec.h"
#include "support.h"

namespace opgate::checks_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::spec_of;

struct Case {
  std::string layout = "contiguous";
  c10::ScalarType dtype = c10::kFloat;
  Shape shape = {4, 6};
  Accuracy accuracy = exact();
  bool clear_errors = false;
};

// Runs all of `checks` on one call of opgate_test::`op`, whose reference doubles its input.
std::map<std::string, Judgement> judge_all(const std::string& op, const std::vector<std::string>& checks,
                                           const Case& about = {}, bool reference_throws = false) {
  Spec spec = spec_of("opgate_test::" + op, {{uniform(about.shape)}});
  spec.accuracy = about.accuracy;
  if (about.clear_errors) spec.promises.insert(Promise::clear_errors);
  if (reference_throws) {
    SpecWriter(spec).reference([](const at::Tensor&) -> at::Tensor { throw std::runtime_error("no idea"); });
  } else {
    SpecWriter(spec).reference([](at::Tensor x) { return x.mul_(2); });
  }
  const std::vector<Check> all = native_checks();
  std::vector<const Check*> asked;
  for (const std::string& check : checks) asked.push_back(&find_check(all, check));
  WorkerCache cache;
  return judge_call({&spec, &spec.samples[0], about.dtype, c10::kCPU, about.layout}, asked, cache);
}

Judgement judge(const std::string& op, const std::string& check, const Case& about = {}) {
  return judge_all(op, {check}, about).at(check);
}

// The whole judgement in one string (verdict, reason, finding), so that a failed test shows all of it.
std::string said(const Judgement& judgement) {
  std::string text = std::string(to_string(judgement.verdict)) + ": " + judgement.reason;
  if (judgement.finding) {
    text +=
        judgement.finding->promised + " | " + judgement.finding->happened + " | " + judgement.finding->likely;
  }
  return text;
}

std::string said(const std::string& op, const std::string& check, const Case& about = {}) {
  return said(judge(op, check, about));
}

// Runs registration.tags on an operator that draws random numbers, as its spec says.
std::string said_of_random_tags(const std::string& op) {
  Spec spec = spec_of(op, {{uniform({4, 6})}}, {c10::kFloat});
  spec.promises.insert(Promise::nondeterministic_seeded);
  const std::vector<Check> all = native_checks();
  const Check& check = find_check(all, "registration.tags");
  WorkerCache cache;
  return said(judge_call({&spec, &spec.samples[0], c10::kFloat, c10::kCPU, "contiguous"}, {&check}, cache)
                  .at(check.name));
}

TEST(RegistrationTags, AnOperatorThatDrawsRandomNumbersSaysSo) {
  EXPECT_THAT(said_of_random_tags("opgate_test::doubled"),
              AllOf(HasSubstr("fail"), HasSubstr("nondeterministic_seeded")));
  EXPECT_THAT(said_of_random_tags("aten::rand_like"), HasSubstr("pass"));
}

const std::vector<std::string> kAll{"effect.alias", "effect.mutation", "fake.metadata",
                                    "value.dtype",  "value.layout",    "value.reference"};

TEST(NativeChecks, PassACorrectOperatorInEveryCaseOfItsPlan) {
  for (const char* op : {"doubled", "double_in_place"}) {
    std::vector<Spec> specs{
        spec_of(std::string("opgate_test::") + op, {{uniform({2, 3, 4, 6})}, {uniform({7})}})};
    specs[0].reference = nullptr;
    SpecWriter(specs[0]).reference([](at::Tensor x) { return x.mul_(2); });
    std::vector<Check> checks = native_checks();
    std::erase_if(checks, [](const Check& check) { return check.needs_package; });
    WorkerCache cache;
    size_t judged = 0;
    for (const PlannedCall& call : make_plan(specs, checks).calls) {
      const bool undeclared = call.checks.size() == 1 && call.checks[0]->name == "value.dtype";
      if (undeclared && std::string(op) == "double_in_place") continue;  // it does not check the dtype
      for (const auto& [check, judgement] : judge_call(call.key, call.checks, cache)) {
        EXPECT_EQ(judgement.verdict, Verdict::pass) << call.id << "/" << check << " " << said(judgement);
        ++judged;
      }
    }
    EXPECT_GT(judged, 150u);
  }
}

TEST(ValueReference, FailsOneWrongElement) {
  EXPECT_THAT(said("wrong_in_one_place", "value.reference"),
              AllOf(HasSubstr("fail"), HasSubstr("1 of 24 elements differ, the first at [0, 5]")));
  EXPECT_THAT(said("wrong_in_one_place", "value.reference", {.accuracy = ulps(8)}), HasSubstr("ulps)"));
  EXPECT_FALSE(judge("wrong_in_one_place", "value.reference").finding->detail.empty());
}

TEST(ValueReference, FailsAResultWithoutValues) {
  EXPECT_THAT(
      said("returns_meta", "value.reference"),
      AllOf(HasSubstr("fail"), HasSubstr("the kernel returned a tensor on meta, which has no values")));
  std::vector<std::string> native;
  for (const Check& check : native_checks()) {
    if (!check.needs_package && check.group() != "class" && !check.scope.device) native.push_back(check.name);
  }
  for (const auto& [check, judgement] : judge_all("returns_meta", native))
    EXPECT_EQ(said(judgement).find("OpGate itself failed"), std::string::npos)
        << check << " " << said(judgement);
}

TEST(ValueReference, FailsALostWriteBack) {
  EXPECT_THAT(said("loses_write_back", "value.reference"), HasSubstr("pass"));  // not copied
  EXPECT_THAT(said("loses_write_back", "value.layout", {.layout = "x=stepped"}),
              AllOf(HasSubstr("fail"), HasSubstr("elements differ")));
}

// The reference is right, and the operator returns its values truncated to int32.
TEST(ValueReference, FailsAResultOfAnotherKindOfDtype) {
  EXPECT_THAT(said("returns_other_dtype", "value.reference"),
              AllOf(HasSubstr("fail"), HasSubstr("dtype int32")));
  EXPECT_THAT(said("returns_other_dtype", "value.reference", {.accuracy = ulps(4)}),
              HasSubstr("dtype int32"));
}

TEST(ValueReference, CannotJudgeASampleThatTheOperatorRefuses) {
  EXPECT_THAT(said("refuses_all", "value.reference"),
              AllOf(HasSubstr("invalid"), HasSubstr("refuses this sample of its spec: not today")));
}

// If all kernels of the operator agree and only the reference has another shape or kind of dtype, the
// reference is wrong.
TEST(ValueReference, BlamesAReferenceThatStandsAloneAndNamesItsLine) {
  Spec spec = spec_of("opgate_test::doubled", {{uniform({4, 6})}});
  spec.where = "my_spec.cpp:7";
  const auto judged = [&](auto reference) {
    SpecWriter(spec).reference(std::move(reference));
    const std::vector<Check> all = native_checks();
    WorkerCache cache;
    const CallKey key{&spec, &spec.samples[0], c10::kFloat, c10::kCPU, std::string(kContiguous)};
    return said(judge_call(key, {&find_check(all, "value.reference")}, cache).at("value.reference"));
  };
  EXPECT_THAT(judged([](const at::Tensor& x) { return x.mul(2).flatten(); }),
              AllOf(HasSubstr("invalid"), HasSubstr("my_spec.cpp:7"), HasSubstr("floating [24]"),
                    HasSubstr("floating [4, 6]")));
  EXPECT_THAT(judged([](const at::Tensor& x) { return x.mul(2).to(at::kLong); }),
              AllOf(HasSubstr("invalid"), HasSubstr("my_spec.cpp:7"), HasSubstr("int64 [4, 6]")));
  EXPECT_THAT(judged([](const at::Tensor& x) { return x.mul(3); }), HasSubstr("fail"));
}

TEST(JudgeCall, NamesTheSpecOfAnOperatorThatChangesItsSchemaOrGoesAway) {
  const auto kernel = [](const at::Tensor& x) { return x.clone(); };
  auto library =
      std::make_unique<torch::Library>(torch::Library::DEF, "opgate_changing", std::nullopt, "", 0);
  library->def("f(Tensor x) -> Tensor", kernel);
  Spec spec = spec_of("opgate_changing::f", {{uniform({4, 6})}});
  spec.where = "my_spec.cpp:7";
  const auto judged = [&] {
    const std::vector<Check> all = native_checks();
    WorkerCache cache;
    const CallKey key{&spec, &spec.samples[0], c10::kFloat, c10::kCPU, std::string(kContiguous)};
    return said(judge_call(key, {&find_check(all, "effect.mutation")}, cache).at("effect.mutation"));
  };
  EXPECT_THAT(judged(), HasSubstr("pass"));
  library.reset();
  EXPECT_THAT(judged(), AllOf(HasSubstr("invalid: my_spec.cpp:7"), HasSubstr("is gone")));
  library = std::make_unique<torch::Library>(torch::Library::DEF, "opgate_changing", std::nullopt, "", 0);
  library->def("f(Tensor x, int n=1) -> Tensor", [](const at::Tensor& x, int64_t) { return x.clone(); });
  EXPECT_THAT(judged(), AllOf(HasSubstr("invalid: my_spec.cpp:7"), HasSubstr("int n=1")));
}

TEST(ValueReference, FailsAnEmptySizeThatOnlyTheReferenceTakes) {
  EXPECT_THAT(said("refuses_all", "value.reference", {.layout = "x=empty-dim0"}),
              AllOf(HasSubstr("fail"), HasSubstr("raised: not today")));
}

TEST(ValueReference, CannotJudgeByAReferenceThatThrows) {
  EXPECT_THAT(said(judge_all("doubled", {"value.reference"}, {}, true).at("value.reference")),
              AllOf(HasSubstr("invalid"),
                    HasSubstr("the reference refuses this sample, which the operator takes: no idea")));
}

// The operator is wrong by 1, in one element of at most 2 in magnitude.
TEST(ValueReference, MeasuresAtTheScaleThatTheSpecGives) {
  const auto judged = [](Accuracy promised, auto scale) {
    Spec spec = spec_of("opgate_test::wrong_in_one_place", {{uniform({4, 6})}});
    spec.where = "my_spec.cpp:7";
    SpecWriter(spec).reference([](const at::Tensor& x) { return x.mul(2); });
    spec.accuracy.reset();
    SpecWriter(spec).accuracy(promised, std::move(scale));
    const std::vector<Check> all = native_checks();
    WorkerCache cache;
    const CallKey key{&spec, &spec.samples[0], c10::kFloat, c10::kCPU, std::string(kContiguous)};
    return said(judge_call(key, {&find_check(all, "value.reference")}, cache).at("value.reference"));
  };
  const auto huge = [](const at::Tensor& x) { return x.mul(0).add(1 << 23); };  // 1 is its ulp
  EXPECT_THAT(judged(ulps(1), huge), HasSubstr("pass"));
  EXPECT_THAT(judged(ulps(0.5), huge), AllOf(HasSubstr("fail"), HasSubstr("(1 ulps at the inputs' scale)")));
  EXPECT_THAT(judged(ulps(1), [](const at::Tensor&) -> at::Tensor { throw std::runtime_error("no idea"); }),
              AllOf(HasSubstr("invalid: my_spec.cpp:7"), HasSubstr("scale"), HasSubstr("raises: no idea")));
  EXPECT_THAT(judged(ulps(1), [](const at::Tensor& x) { return x.flatten(); }),
              AllOf(HasSubstr("invalid"), HasSubstr("a scale of shape [24]")));
  EXPECT_THAT(judged(ulps(1), [](const at::Tensor& x) { return std::tuple(x, x); }),
              AllOf(HasSubstr("invalid: my_spec.cpp:7"), HasSubstr("2 tensors for 1 results")));
}

TEST(ValueReference, SaysWhatWasThrownWhateverItWas) {
  EXPECT_THAT(said("throws_a_number", "value.reference"),
              HasSubstr("an exception that is no std::exception"));
}

TEST(ValueLayout, FailsIgnoredStridesAndSaysSo) {
  EXPECT_THAT(
      said("ignores_strides", "value.layout", {.layout = "x=stepped"}),
      AllOf(HasSubstr("fail"), HasSubstr("whatever the layout of `x`"), HasSubstr("read as if it were dense"),
            HasSubstr("element [0, 1] of the result was computed from the gap after x[0, 0]")));
  EXPECT_THAT(said("ignores_strides", "value.layout", {.layout = "x=transposed"}),
              HasSubstr("computed from x[1, 0]"));
}

TEST(ValueLayout, FailsAnIgnoredOffsetAndSaysSo) {
  EXPECT_THAT(said("ignores_offset", "value.layout", {.layout = "x=offset"}),
              AllOf(HasSubstr("fail"), HasSubstr("the storage offset is ignored"),
                    HasSubstr("the gap before x's first element")));
  EXPECT_THAT(said("ignores_offset", "value.layout", {.layout = "x=stepped"}), HasSubstr("pass"));
}

TEST(ValueLayout, FailsARefusalOfStridedInputUnlessContiguousInputIsRefusedToo) {
  EXPECT_THAT(said("wants_contiguous", "value.layout", {.layout = "x=stepped"}),
              AllOf(HasSubstr("fail"), HasSubstr("raised: x must be contiguous")));
  EXPECT_THAT(said("refuses_all", "value.layout", {.layout = "x=stepped"}),
              AllOf(HasSubstr("invalid"), HasSubstr("laid out contiguously: not today")));
}

TEST(ValueLayout, IsNotThrownOffByAnErrorThatContiguousInputHasToo) {
  EXPECT_THAT(said("wrong_in_one_place", "value.layout", {.layout = "x=stepped"}), HasSubstr("pass"));
}

TEST(ValueDtype, FailsAnUndeclaredDtypeThatIsAccepted) {
  EXPECT_THAT(said("takes_any_dtype", "value.dtype", {.dtype = c10::kInt}),
              AllOf(HasSubstr("fail"), HasSubstr("float16, bfloat16, float32, float64"),
                    HasSubstr("int32 is accepted")));
  EXPECT_THAT(said("doubled", "value.dtype", {.dtype = c10::kInt}), HasSubstr("pass"));
}

TEST(ValueDtype, FailsADeclaredDtypeThatIsRefused) {
  EXPECT_THAT(said("refuses_half", "value.dtype", {.dtype = c10::kHalf}),
              AllOf(HasSubstr("fail"), HasSubstr("float16 is refused: x must not be Half")));
  EXPECT_THAT(said("refuses_half", "value.dtype"), HasSubstr("pass"));
}

TEST(ValueDtype, FailsARefusalThatDoesNotNameTheDtype) {
  EXPECT_THAT(said("names_no_dtype", "value.dtype", {.dtype = c10::kComplexFloat}),
              AllOf(HasSubstr("pass"), HasSubstr("refused without being named")));
  EXPECT_THAT(said("names_no_dtype", "value.dtype", {.dtype = c10::kComplexFloat, .clear_errors = true}),
              AllOf(HasSubstr("fail"), HasSubstr("complex64 is refused without being named"),
                    HasSubstr("got ComplexFloat")));
}

// "x must be floating point" contains the letters of Int, but does not name the dtype.
TEST(ValueDtype, WantsTheDtypeAsAWordOfItsOwn) {
  EXPECT_THAT(said("mentions_a_point", "value.dtype", {.dtype = c10::kInt, .clear_errors = true}),
              AllOf(HasSubstr("fail"), HasSubstr("int32 is refused without being named")));
}

// torch's stable ABI refuses a dtype by its number, before the operator's own code is called.
TEST(ValueDtype, TakesTheNumberOfTheDtypeForItsName) {
  EXPECT_THAT(said("names_a_number", "value.dtype", {.dtype = c10::kInt}), HasSubstr("pass"));
}

TEST(EffectMutation, FailsAWriteInAGap) {
  EXPECT_THAT(said("writes_in_a_gap", "effect.mutation", {.layout = "x=row-sliced"}),
              AllOf(HasSubstr("fail"), HasSubstr("4 of "), HasSubstr("the gap after x[0, 5]"),
                    HasSubstr("0xa5a5a5a5 became 0x3f800000"), HasSubstr("the end of a row")));
  EXPECT_THAT(said("writes_in_a_gap", "effect.mutation"), HasSubstr("pass"));
}

TEST(EffectMutation, FailsAnUndeclaredWrite) {
  EXPECT_THAT(
      said("writes_its_input", "effect.mutation"),
      AllOf(HasSubstr("fail"), HasSubstr("the first in x[0, 1]"), HasSubstr("declare it: Tensor(a!) x")));
}

TEST(EffectMutation, TakesADeclaredWriteInsideTheViewOnly) {
  const Case stepped{.layout = "x=stepped"};
  EXPECT_THAT(said("double_in_place", "effect.mutation", stepped), HasSubstr("pass"));
  EXPECT_THAT(said("writes_past_the_view", "effect.mutation", stepped),
              AllOf(HasSubstr("fail"), HasSubstr("outside the view that the schema lets it write"),
                    HasSubstr("the gap after x[0, 0]")));
}

TEST(EffectAlias, FailsAReturnedInput) {
  EXPECT_THAT(said("returns_input", "effect.alias"),
              AllOf(HasSubstr("fail"), HasSubstr("does not share storage with `x`"),
                    HasSubstr("the output is `x` itself or a view of it"), HasSubstr("x.clone()")));
  EXPECT_THAT(said("returns_input", "effect.alias", {.layout = "x=stepped"}), HasSubstr("pass"));
}

TEST(EffectAlias, FailsAReturnedInputInsideAList) {
  EXPECT_THAT(said("returns_input_in_list", "effect.alias"), AllOf(HasSubstr("fail"), HasSubstr("`x`")));
}

TEST(EffectAlias, FailsOutputsThatShareAWorkspace) {
  EXPECT_THAT(said("shares_a_workspace", "effect.alias"),
              AllOf(HasSubstr("fail"), HasSubstr("output 0 and output 1 share one")));
}

TEST(EffectAlias, FailsAnAliasThatIsMadeOnlyWhereGradientsAreWanted) {
  Spec spec = spec_of("opgate_test::returns_input_for_gradients", {{uniform({4, 6})}});
  const CallKey key{&spec, &spec.samples[0], c10::kFloat, c10::kCPU, std::string(kContiguous)};
  const std::vector<Check> checks = native_checks();
  const auto judged = [&] {
    WorkerCache cache;
    return judge_call(key, {&find_check(checks, "effect.alias")}, cache).at("effect.alias");
  };
  EXPECT_EQ(judged().verdict, Verdict::pass);
  spec.promises.insert(Promise::differentiable);
  ASSERT_EQ(judged().verdict, Verdict::fail);
  EXPECT_THAT(judged().finding->promised, HasSubstr("if its inputs require gradients"));
}

TEST(EffectAlias, FailsADeclaredAliasThatIsNotMade) {
  EXPECT_THAT(said("makes_no_view", "effect.alias"),
              AllOf(HasSubstr("fail"), HasSubstr("the output has a storage of its own")));
}

TEST(FakeMetadata, FailsOtherStrides) {
  EXPECT_THAT(said("has_dense_meta", "fake.metadata", {.layout = "x=transposed"}),
              AllOf(HasSubstr("fail"), HasSubstr("the output has strides [6, 1], not [1, 4]")));
  EXPECT_THAT(said("has_dense_meta", "fake.metadata"), HasSubstr("pass"));
}

TEST(FakeMetadata, FailsAnotherDtype) {
  EXPECT_THAT(said("has_double_meta", "fake.metadata"),
              AllOf(HasSubstr("fail"), HasSubstr("dtype float64, not float32")));
}

TEST(FakeMetadata, FailsAMissingMetaKernel) {
  EXPECT_THAT(said("has_no_meta", "fake.metadata"),
              AllOf(HasSubstr("fail"), HasSubstr("the meta kernel raised"),
                    HasSubstr("no meta kernel is registered")));
}

// The dispatcher has a fallback for Meta, so that an operator without a Meta kernel seems to have one.
TEST(FakeExists, FailsAMissingMetaKernelAndTakesACompositeOne) {
  EXPECT_THAT(said("has_no_meta", "fake.exists"), AllOf(HasSubstr("fail"), HasSubstr("none is registered")));
  EXPECT_EQ(judge("doubled", "fake.exists").verdict, Verdict::pass);
  EXPECT_EQ(judge("twice_the_mean", "fake.exists").verdict, Verdict::pass);
}

TEST(FakeMetadata, HasNothingToCompareWhereTheRealKernelRefuses) {
  EXPECT_THAT(said("wants_contiguous", "fake.metadata", {.layout = "x=stepped"}), HasSubstr("pass"));
  EXPECT_THAT(said("refuses_all", "fake.metadata", {.layout = "x=stepped"}), HasSubstr("pass"));
}

// The callers must have different values, because equal ones would leave the same content in the scratch
// memory.
TEST(RunThreads, FailsAScratchThatCallsShare) {
  EXPECT_THAT(said("shares_scratch", "run.threads"),
              AllOf(HasSubstr("fail"), HasSubstr("from 4 threads at once"), HasSubstr("static buffer")));
  EXPECT_EQ(judge("doubled", "run.threads").verdict, Verdict::pass);
}

TEST(MemoryLeak, FailsAKeptArgument) {
  for (const char* op : {"keeps_its_input", "keeps_a_view"})
    EXPECT_THAT(said(op, "memory.leak"), AllOf(HasSubstr("fail"), HasSubstr("still held by another owner")))
        << op;
  EXPECT_EQ(judge("doubled", "memory.leak").verdict, Verdict::pass);
}

// The result of one call must not be returned by the next. Both tensors have the same size, so that they
// may also have the same address.
TEST(MemoryLifetime, FailsWhatIsRememberedByShape) {
  const auto judged = [](const char* op) {
    Spec spec = spec_of(op, {{uniform({4, 6})}}, {c10::kDouble});
    SpecWriter(spec).reference([](const at::Tensor& x) { return x.mean().mul(2); });
    const std::vector<Check> all = native_checks();
    WorkerCache cache;
    return judge_call({&spec, &spec.samples[0], c10::kDouble, c10::kCPU, "contiguous"},
                      {&find_check(all, "memory.lifetime")}, cache)
        .at("memory.lifetime");
  };
  EXPECT_THAT(said(judged("opgate_test::mean_of_the_first")),
              AllOf(HasSubstr("fail"), HasSubstr("new values"), HasSubstr("by shape")));
  EXPECT_EQ(judged("opgate_test::twice_the_mean").verdict, Verdict::pass);
}

// A softmax in float loses elements far below its largest one, which is rounding and not remembered state.
TEST(MemoryLifetime, DoesNotMistakeRoundingForMemory) {
  Spec spec = spec_of("aten::_softmax", {{uniform({40, 5}, -1000, 1000), 1, false}}, {c10::kFloat});
  SpecWriter(spec).reference("aten::_softmax");
  SpecWriter(spec).accuracy(ulps(4));
  const std::vector<Check> all = native_checks();
  size_t passed = 0;
  for (int i = 0; i < 20; ++i) {  // the name of a sample keys its values
    spec.samples[0].name = std::to_string(i);
    WorkerCache cache;
    passed += judge_call({&spec, &spec.samples[0], c10::kFloat, c10::kCPU, "contiguous"},
                         {&find_check(all, "memory.lifetime")}, cache)
                  .at("memory.lifetime")
                  .verdict == Verdict::pass;
  }
  EXPECT_EQ(passed, 20u);
}

TEST(JudgeCall, GivesEveryCheckItsOwnVerdictOnOneCall) {
  const auto judgements = judge_all("writes_its_input", kAll, {.layout = "x=stepped"});
  ASSERT_EQ(judgements.size(), kAll.size());
  for (const auto& [check, judgement] : judgements) {
    const bool seen = check == "effect.mutation" || check == "fake.metadata";  // it has no meta kernel
    EXPECT_EQ(judgement.verdict, seen ? Verdict::fail : Verdict::pass) << check << " " << said(judgement);
  }
}

}  // namespace
}  // namespace opgate::checks_test
