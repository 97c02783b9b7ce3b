// Correct operators of ATen that look suspicious: no check may fail for one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inputs/variant.h"
#include "judging/all_checks.h"
#include "judging/calls/judge_call.h"
#include "judging/verdict.h"
#include "plan/plan.h"
#include "run/worker/worker.h"
#include "spec/spec.h"
#include "spec/specs.h"
#include "support.h"

namespace opgate::false_alarms_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::spec_of;

struct Heard {
  std::vector<std::string> complaints;  // every verdict that is not a pass, in words
  size_t judged = 0;
};

// Runs every native check on every call that it is planned for.
Heard hear(Spec& spec) {
  Heard heard;
  std::vector<Check> checks = native_checks();
  // Many of ATen's meta kernels are written in Python, and this process has no Python.
  const bool has_fake = spec.op->hasKernelForDispatchKey(c10::DispatchKey::Meta);
  std::erase_if(checks, [&](const Check& check) {
    return check.needs_package || (check.group() == "fake" && !has_fake);
  });

  WorkerCache cache;
  for (const Sample& sample : spec.samples) {
    for (const Variant& variant : variants(spec, sample)) {
      for (const c10::ScalarType dtype : spec.dtypes.at(c10::kCPU)) {
        const CallKey key{&spec, &sample, dtype, c10::kCPU, variant.text};
        std::vector<const Check*> planned;
        for (const Check& check : checks) {
          if (in_scope(check.scope, key, variant)) planned.push_back(&check);
        }
        for (const auto& [check, judgement] : judge_call(key, planned, cache)) {
          ++heard.judged;
          if (judgement.verdict == Verdict::pass || judgement.verdict == Verdict::owed) continue;
          heard.complaints.push_back(call_id(key) + "/" + check + ": " + judgement.reason +
                                     (judgement.finding ? judgement.finding->happened : ""));
        }
      }
    }
  }
  return heard;
}

std::vector<std::string> complaints(Spec spec) {
  const Heard heard = hear(spec);
  EXPECT_GT(heard.judged, 40u) << "too little was judged to mean anything";
  return heard.complaints;
}

Spec within_ulps(std::string op, std::vector<std::vector<Argument>> samples, double bound,
                 Dtypes dtypes = {c10::kFloat, c10::kDouble}) {
  Spec spec = spec_of(std::move(op), std::move(samples), std::move(dtypes));
  spec.accuracy = ulps(bound);
  return spec;
}

TEST(FalseAlarms, ASampleMayHoldInfinitiesWhereThereIsNoSlope) {
  Spec spec = within_ulps("aten::mul.Tensor", {{values({3}, {INFINITY, 1, 2}), uniform({3}, 1, 2)}}, 1);
  spec.promises.insert(Promise::differentiable);
  EXPECT_THAT(complaints(std::move(spec)), IsEmpty());
}

TEST(FalseAlarms, SumsMayBeTakenInAnotherOrderForAnotherLayout) {
  EXPECT_THAT(complaints(within_ulps("aten::sum.dim_IntList",
                                     {{uniform({5, 301}, 0, 1), std::vector<int64_t>{1}}}, 8)),
              IsEmpty());
  EXPECT_THAT(complaints(within_ulps("aten::softmax.int", {{uniform({5, 300}), 1}}, 8)), IsEmpty());
}

TEST(FalseAlarms, MatrixProductsAndConvolutionsToo) {
  EXPECT_THAT(complaints(within_ulps("aten::mm", {{uniform({9, 65}, 0, 1), uniform({65, 12}, 0, 1)}}, 16)),
              IsEmpty());
  EXPECT_THAT(complaints(within_ulps(
                  "aten::conv2d",
                  {{uniform({2, 3, 9, 8}, 0, 1), uniform({4, 3, 3, 3}, 0, 1), uniform({4}, 0, 1)}}, 16)),
              IsEmpty());
}

TEST(FalseAlarms, SumsMayBeTakenInAnotherOrderInEachCall) {
  EXPECT_THAT(
      complaints(within_ulps("opgate_test::twice_in_some_order", {{uniform({4, 6})}}, 2, {c10::kFloat})),
      IsEmpty());
}

TEST(FalseAlarms, TheOrderOfTiesIsNotPromised) {
  Spec spec = spec_of("aten::topk", {{uniform({6, 40}, 0, 3).of(c10::kLong), 5}}, {c10::kFloat});
  spec.unspecified.insert(1);
  EXPECT_THAT(complaints(spec), IsEmpty());
}

TEST(FalseAlarms, ValuesThatAreUndefinedByContractAreNotRead) {
  Spec spec = spec_of("aten::empty_like", {{uniform({4, 6})}}, {c10::kFloat});
  spec.unspecified.insert(0);
  EXPECT_THAT(complaints(spec), IsEmpty());
}

TEST(FalseAlarms, TheOperatorOfADraftMayReturnMemoryThatItDidNotWrite) {
  Spec spec = spec_of("aten::empty_like", {{uniform({4, 6})}}, {c10::kFloat});
  spec.reference = nullptr;
  EXPECT_THAT(complaints(spec), Not(IsEmpty()));
  spec.draft = true;
  EXPECT_THAT(complaints(spec), IsEmpty());
  spec = spec_of("opgate_test::half_written", {{uniform({4, 6})}}, {c10::kFloat});
  spec.draft = true;
  EXPECT_THAT(complaints(spec), Not(IsEmpty())) << "some elements are written, and some are not";
}

TEST(FalseAlarms, AListOfResultsIsUnspecifiedAsAWhole) {
  Spec spec = spec_of("opgate_test::with_scratch", {{uniform({4, 6})}}, {c10::kFloat});
  spec.promises.insert(Promise::deterministic);
  spec.unspecified.insert(0);
  EXPECT_THAT(complaints(spec), IsEmpty());
  spec.unspecified = {1};
  EXPECT_THAT(complaints(spec), Not(IsEmpty()));
}

TEST(FalseAlarms, ScratchMemoryMayDependOnTheSizeOfTheBatch) {
  Spec spec = spec_of("opgate_test::with_rows_of_scratch", {{uniform({4, 6})}}, {c10::kFloat});
  spec.promises.insert(Promise::batch_invariant);
  spec.unspecified.insert(0);
  EXPECT_THAT(complaints(spec), IsEmpty());
  spec.unspecified.clear();
  EXPECT_THAT(complaints(spec), Not(IsEmpty()));
}

TEST(FalseAlarms, GradientsNeedNotFlowIntoABufferBesideTheResult) {
  Spec spec = spec_of("opgate_test::centred", {{uniform({4, 6}), uniform({6})}}, {c10::kDouble});
  spec.accuracy = ulps(16).scaled_by_inputs();
  spec.promises.insert(Promise::differentiable);
  EXPECT_THAT(complaints(spec), IsEmpty());
}

TEST(FalseAlarms, AResultMayBeNoTensor) {
  Spec spec = spec_of("opgate_test::with_no_second", {{uniform({4, 6})}}, {c10::kFloat});
  SpecWriter(spec).reference([](at::Tensor x) { return std::make_tuple(x.mul_(2), at::Tensor()); });
  spec.promises.insert(Promise::deterministic);
  EXPECT_THAT(complaints(spec), IsEmpty());
}

TEST(FalseAlarms, ListsShareStorageWhereTheSchemaSaysSoAndMayElsewhere) {
  const std::vector<TensorArgument> several{uniform({3}), uniform({2, 4})};
  Spec of_lists = spec_of("aten::_foreach_neg", {{several}}, {c10::kFloat});
  of_lists.draft = true;  // ATen's message for an undefined tensor is an internal assert
  EXPECT_THAT(complaints(of_lists), IsEmpty());
  EXPECT_THAT(complaints(spec_of("aten::unbind.int", {{uniform({3, 4}), 0}}, {c10::kFloat})), IsEmpty());
  EXPECT_THAT(complaints(spec_of("aten::split.Tensor", {{uniform({5, 4}), 2, 0}}, {c10::kFloat})), IsEmpty());
  EXPECT_THAT(
      complaints(spec_of("aten::cat", {{std::vector<TensorArgument>{uniform({3, 2}), uniform({1, 2})}, 0}},
                         {c10::kFloat})),
      IsEmpty());
}

TEST(FalseAlarms, AnInputThatIsRejectedByContractMayBeRejected) {
  Spec spec = spec_of("opgate_test::refuses_empty", {{uniform({4, 6})}}, {c10::kFloat});
  SpecWriter(spec).reference([](at::Tensor x) { return x.mul_(2); });
  EXPECT_THAT(complaints(spec), Not(IsEmpty())) << "nothing says so yet";
  SpecWriter(spec).rejects("nothing", {uniform({0})}).because("must not be EMPTY");
  EXPECT_THAT(complaints(spec), IsEmpty());
}

TEST(FalseAlarms, StridesOfDimsOfSizeOneMeanNothing) {
  EXPECT_THAT(complaints(spec_of("aten::neg", {{uniform({2, 1, 5})}, {uniform({1, 1})}}, {c10::kFloat})),
              IsEmpty());
}

TEST(FalseAlarms, IndicesStayInTheirDomainInEveryLayout) {
  EXPECT_THAT(complaints(spec_of("aten::index_select",
                                 {{uniform({7, 5}), 0, uniform({9}, 0, 6).of(c10::kLong)}}, {c10::kFloat})),
              IsEmpty());
  EXPECT_THAT(complaints(spec_of("aten::gather", {{uniform({7, 5}), 1, uniform({7, 3}, 0, 4).of(c10::kLong)}},
                                 {c10::kFloat})),
              IsEmpty());
}

TEST(FalseAlarms, ACleanRefusalThatIsPromisedIsKept) {
  Spec spec = spec_of("opgate_test::wants_contiguous", {{uniform({4, 6})}});
  SpecWriter(spec).reference([](at::Tensor x) { return x.mul_(2); }).wants_contiguous("x");
  EXPECT_THAT(complaints(spec), IsEmpty());
}

TEST(FalseAlarms, TheOperatorOfADraftMayRefuseALayoutInWords) {
  Spec spec = spec_of("opgate_test::wants_contiguous", {{uniform({4, 6})}});
  EXPECT_THAT(complaints(spec), Not(IsEmpty()));
  spec.draft = true;
  EXPECT_THAT(complaints(spec), IsEmpty());
}

Spec draft_of(std::string op, std::vector<std::vector<Argument>> samples) {
  Spec spec = spec_of(std::move(op), std::move(samples), {c10::kFloat});
  spec.draft = true;
  spec.reference = nullptr;
  spec.accuracy = std::nullopt;
  complete_draft(spec);
  return spec;
}

TEST(FalseAlarms, AViewMayRefuseAStrideThatOnlyACopyCouldFollow) {
  const std::vector<std::vector<Argument>> samples{{uniform({4, 6}), std::vector<int64_t>{24}}};
  EXPECT_THAT(complaints(draft_of("aten::view", samples)), IsEmpty());
  EXPECT_THAT(complaints(draft_of("opgate_test::flattened", {{uniform({4, 6})}})),
              ::testing::Contains(HasSubstr("/value.layout: raised: view size is not compatible")))
      << "it returns no view";
}

TEST(FalseAlarms, ACompositeOperatorOfADraftMayCopyWhereItsSchemaSaysThatItMayReturnAView) {
  EXPECT_THAT(complaints(draft_of("aten::reshape", {{uniform({4, 6}), std::vector<int64_t>{24}}})),
              IsEmpty());
  EXPECT_THAT(complaints(draft_of("aten::contiguous", {{uniform({4, 6})}})), IsEmpty());
}

TEST(FalseAlarms, ACompositeOperatorOfADraftMayReturnItsInput) {
  EXPECT_THAT(complaints(draft_of("aten::atleast_2d", {{uniform({4, 6})}})), IsEmpty());
}

TEST(FalseAlarms, AnEmptyOutIsResized) {
  EXPECT_THAT(complaints(draft_of("aten::add.out", {{uniform({4, 6}), uniform({4, 6}), 1, uniform({0})}})),
              IsEmpty());
}

TEST(FalseAlarms, ResultsShareTheStorageInWhichTheCallerHasPutThem) {
  EXPECT_THAT(
      complaints(draft_of("aten::aminmax.out", {{uniform({4, 6}), 1, false, uniform({4}), uniform({4})}})),
      IsEmpty());
}

TEST(FalseAlarms, ATagSaysThatPythonHasTheFakeKernel) {
  const Spec spec =
      draft_of("aten::masked_select", {{uniform({4, 6}), uniform({4, 6}, 0, 2).of(c10::kBool)}});
  WorkerCache cache;
  const CallKey key{&spec, &spec.samples.front(), c10::kFloat, c10::kCPU, "contiguous"};
  const std::vector<Check> checks = native_checks();
  EXPECT_EQ(judge_call(key, {&find_check(checks, "fake.exists")}, cache).at("fake.exists").verdict,
            Verdict::owed);
}

TEST(FalseAlarms, ASparseResultIsNotLookedInto) {
  const Spec spec = draft_of("aten::to_sparse", {{uniform({4, 6})}});
  WorkerCache cache;
  const CallKey key{&spec, &spec.samples.front(), c10::kFloat, c10::kCPU, "contiguous"};
  const std::vector<Check> checks = native_checks();
  const auto judgements = judge_call(key, {&find_check(checks, "effect.alias")}, cache);
  EXPECT_EQ(judgements.at("effect.alias").verdict, Verdict::owed);
  EXPECT_THAT(judgements.at("effect.alias").reason, HasSubstr("a tensor of layout Sparse"));
}

TEST(FalseAlarms, AQuantizedResultIsNotLookedInto) {
  const Spec spec =
      draft_of("aten::quantize_per_tensor", {{uniform({4, 6}), 0.1, 0, static_cast<int64_t>(c10::kQUInt8)}});
  WorkerCache cache;
  const CallKey key{&spec, &spec.samples.front(), c10::kFloat, c10::kCPU, "self=stepped"};
  const std::vector<Check> checks = native_checks();
  const Judgement judgement =
      judge_call(key, {&find_check(checks, "value.layout")}, cache).at("value.layout");
  EXPECT_EQ(judgement.verdict, Verdict::owed);
  EXPECT_THAT(judgement.reason, HasSubstr("a quantized tensor"));
}

TEST(FalseAlarms, ALayoutThatRepeatsASliceMayMakeAMatrixSingular) {
  EXPECT_THAT(complaints(draft_of("aten::linalg_solve", {{uniform({3, 3}), uniform({3})}})), IsEmpty());
}

TEST(FalseAlarms, ComplexResultsOfADraftAreComparedAtTheLargestOne) {
  EXPECT_THAT(complaints(draft_of("aten::fft_ihfftn", {{uniform({5, 6, 7}, 0, 1)}})), IsEmpty());
}

TEST(FalseAlarms, RandomNumbersMayBeDrawnInTheOrderOfTheLayout) {
  Spec spec = draft_of("aten::normal_", {{uniform({16, 6})}});
  spec.promises.insert(Promise::nondeterministic_seeded);
  EXPECT_THAT(complaints(spec), IsEmpty());
}

TEST(FalseAlarms, TheTagInplaceViewSaysThatShapeAndStridesChange) {
  EXPECT_THAT(complaints(draft_of("aten::t_", {{uniform({4, 6})}})), IsEmpty());
}

TEST(FalseAlarms, ARecordingThatNeedsGradientsElsewherePromisesNone) {
  Spec spec = spec_of("opgate_test::doubled", {{uniform({4, 6})}}, {c10::kFloat, c10::kDouble});
  spec.draft = true;
  spec.promises.insert(Promise::differentiable);
  EXPECT_THAT(complaints(spec), Not(IsEmpty())) << "it has no derivative";
  spec.guessed.insert(Promise::differentiable);
  EXPECT_THAT(complaints(spec), IsEmpty());
}

TEST(FalseAlarms, TrustedIntegersOfADraftStayWhatTheyAre) {
  Spec spec = spec_of("aten::index_select", {{uniform({9, 3}), 0, uniform({300}, 0, 8).of(c10::kLong)}},
                      {c10::kFloat});
  spec.trusted.insert("index");
  const auto changing = [&] {
    std::vector<std::string> found;
    for (const Variant& variant : variants(spec, spec.samples.front())) {
      if (variant.text == "index=expanded" || variant.text == "size300=0") found.push_back(variant.text);
    }
    return found;
  };
  EXPECT_EQ(changing().size(), 2u);
  spec.draft = true;
  EXPECT_THAT(changing(), IsEmpty());
}

TEST(FalseAlarms, SizesThatAreFixedByContractAreNoOmission) {
  EXPECT_THAT(complaints(within_ulps("aten::linalg_cross", {{uniform({5, 3}), uniform({5, 3})}}, 4)),
              IsEmpty());
}

TEST(FalseAlarms, ValuesThatAreTrustedAreNotDamaged) {
  Spec spec = spec_of("aten::index_select", {{uniform({5, 3}), 0, indices({4}, 5)}}, {c10::kFloat});
  const auto damaged_values = [&] {
    std::vector<std::string> found;
    for (const Variant& variant : variants(spec, spec.samples.front())) {
      if (variant.text.starts_with("bad:index.value")) found.push_back(variant.text);
    }
    return found;
  };
  EXPECT_THAT(damaged_values(), Not(IsEmpty()));
  spec.trusted.insert("index");
  EXPECT_THAT(damaged_values(), IsEmpty());
  EXPECT_THAT(complaints(spec), IsEmpty());
}

TEST(FalseAlarms, AnOverloadIsJudgedByItsOwnName) {
  EXPECT_THAT(complaints(within_ulps("aten::add.Scalar", {{uniform({4, 7}), 2, 1}}, 1)), IsEmpty());
  EXPECT_THAT(complaints(within_ulps("aten::add.Tensor", {{uniform({4, 7}), uniform({7}), 1}}, 1)),
              IsEmpty());
}

TEST(FalseAlarms, GradientsMakeNoAlias) {
  Spec spec = within_ulps("aten::mul.Tensor", {{uniform({4, 7}), uniform({7})}}, 1);
  spec.promises.insert(Promise::differentiable);
  EXPECT_THAT(complaints(spec), IsEmpty());
}

TEST(FalseAlarms, ANumberThatStandsForAnIndexHasNoSlope) {
  Spec spec = spec_of("opgate_test::row_named", {{uniform({4, 3}), values({2}, {0, 3})}}, {c10::kDouble});
  const Check& numeric = find_check(native_checks(), "grad.numeric");
  const CallKey key{&spec, &spec.samples.front(), c10::kDouble, c10::kCPU, std::string(kContiguous)};
  WorkerCache cache;
  const Judgement judgement = numeric.judge(*std::make_unique<CallUnderTest>(key, cache));
  EXPECT_EQ(judgement.verdict, Verdict::pass) << judgement.reason;
}

// linalg_cholesky reads one triangle, and its gradient is shared by both. A matrix that a program computed as
// a product with its own transpose has triangles that differ by rounding.
TEST(FalseAlarms, AMatrixIsHermitianButForRounding) {
  Spec spec = draft_of("aten::linalg_cholesky",
                       {{values({3, 3}, {4, 0.3, 0.5, 0.30000004, 5, 0.7, 0.5, 0.7, 6}), false}});
  spec.promises.insert(Promise::differentiable);
  const Check& numeric = find_check(native_checks(), "grad.numeric");
  const CallKey key{&spec, &spec.samples.front(), c10::kFloat, c10::kCPU, std::string(kContiguous)};
  WorkerCache cache;
  const Judgement judgement = numeric.judge(*std::make_unique<CallUnderTest>(key, cache));
  EXPECT_EQ(judgement.verdict, Verdict::pass) << (judgement.finding ? judgement.finding->happened : "");
}

TEST(FalseAlarms, ADraftIsComparedWithItself) {
  Spec spec = spec_of("opgate_test::doubled", {{uniform({4, 7})}}, {c10::kFloat});
  spec.reference = nullptr;
  spec.draft = true;
  spec.accuracy = ulps(64);
  EXPECT_THAT(complaints(spec), IsEmpty());
  spec = spec_of("opgate_test::ignores_strides", {{uniform({4, 7})}}, {c10::kFloat});
  spec.reference = nullptr;
  spec.draft = true;
  spec.accuracy = ulps(64);
  EXPECT_THAT(complaints(spec), ::testing::Contains(::testing::HasSubstr("/value.layout: ")));
}

// The sum in float depends on the order of its terms, and its result in double shows the difference.
TEST(FalseAlarms, AStatisticInDoubleIsAsPreciseAsTheDataItWasComputedFrom) {
  Spec spec = spec_of("opgate_test::mean_in_double", {{uniform({64, 67})}}, {c10::kFloat});
  spec.reference = nullptr;
  spec.draft = true;
  spec.accuracy = std::nullopt;
  complete_draft(spec);
  EXPECT_THAT(complaints(spec), IsEmpty());
  spec.accuracy = ulps(64);
  EXPECT_THAT(complaints(spec), ::testing::Contains(::testing::HasSubstr("/value.layout: ")));
}

TEST(FalseAlarms, LazyViewsAreMadeRealOrRefused) {
  EXPECT_THAT(
      complaints(spec_of("aten::add.Tensor", {{uniform({4, 6}), uniform({4, 6})}}, {c10::kComplexFloat})),
      IsEmpty());
  EXPECT_THAT(complaints(spec_of("aten::conj_physical", {{uniform({4, 6})}}, {c10::kComplexFloat})),
              IsEmpty());
}

TEST(FalseAlarms, EightBitFloatsAreMoved) {
  EXPECT_THAT(complaints(spec_of("aten::clone", {{uniform({4, 6})}},
                                 {c10::kFloat8_e5m2, c10::kFloat8_e4m3fn, c10::kFloat8_e5m2fnuz})),
              IsEmpty());
}

TEST(FalseAlarms, AVectorLoadMayCoverAGapWhoseValueIsNotUsed) {
  Spec spec = spec_of("opgate_test::loads_gaps", {{uniform({4, 6})}}, {c10::kFloat});
  SpecWriter(spec).reference([](at::Tensor x) { return x.mul_(2); });
  EXPECT_THAT(complaints(spec), IsEmpty());
}

TEST(FalseAlarms, NaNAndInfinityAreLegitimateResults) {
  EXPECT_THAT(complaints(within_ulps("aten::log", {{uniform({4, 6}, -2, 2)}}, 4)), IsEmpty());
  EXPECT_THAT(
      complaints(within_ulps("aten::mean.dim", {{uniform({4, 6}, 0, 1), std::vector<int64_t>{1}}}, 4)),
      IsEmpty())
      << "the mean over nothing is NaN";
}

TEST(FalseAlarms, RandomOperatorsMayDraw) {
  Spec spec = spec_of("aten::bernoulli.p", {{uniform({40}), 0.5}}, {c10::kFloat});
  spec.promises.insert(Promise::nondeterministic_seeded);
  EXPECT_THAT(complaints(spec), IsEmpty());
}

TEST(FalseAlarms, ViewsThatTheSchemaDeclaresAreViews) {
  EXPECT_THAT(complaints(spec_of("aten::select.int", {{uniform({4, 6}), 0, 1}}, {c10::kFloat})), IsEmpty());
  EXPECT_THAT(complaints(spec_of("aten::transpose.int", {{uniform({4, 6}), 0, 1}}, {c10::kFloat})),
              IsEmpty());
}

TEST(FalseAlarms, ListsInAndOut) {
  EXPECT_THAT(
      complaints(spec_of("aten::cat", {{std::vector<TensorArgument>{uniform({2, 5}), uniform({3, 5})}, 0}},
                         {c10::kFloat})),
      IsEmpty());
  EXPECT_THAT(complaints(spec_of("aten::split.Tensor", {{uniform({6, 5}), 2, 0}}, {c10::kFloat})), IsEmpty());
}

TEST(FalseAlarms, WritingWhatIsDeclaredMutable) {
  EXPECT_THAT(complaints(spec_of("aten::add_.Tensor", {{uniform({4, 6}), uniform({4, 6})}}, {c10::kFloat})),
              IsEmpty());
  EXPECT_THAT(complaints(spec_of("aten::addcmul_", {{uniform({4, 6}), uniform({4, 6}), uniform({4, 6})}},
                                 {c10::kDouble})),
              IsEmpty());
}

}  // namespace
}  // namespace opgate::false_alarms_test
