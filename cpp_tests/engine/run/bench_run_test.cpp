// Which results are compared before anything is timed, and which verdict a bench gets.
#include <ATen/Parallel.h>
#include <ATen/ops/abs.h>
#include <ATen/ops/full.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/relu.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "bench/agreement.h"
#include "bench/benchmark_pair.h"
#include "bench/run_benches.h"
#include "device/device.h"
#include "layouts/layout.h"
#include "spec/spec.h"
#include "spec/specs.h"
#include "support.h"

namespace opgate::bench_run_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::message_of;
using testing::tensor_of;
using Verdict = BenchResult::Verdict;

constexpr Effort kLittle{.rounds = 6, .most_rounds = 6, .warm_seconds = 1e-5, .batch_seconds = 1e-5};

std::optional<std::string> difference(const at::Tensor& got, const at::Tensor& want,
                                      Accuracy promised = exact()) {
  return rough_difference({{"the output", got, want}}, promised);
}

at::Tensor floats(const std::vector<float>& values) {
  return tensor_of<float>({static_cast<int64_t>(values.size())}, values);
}

TEST(RoughDifference, ForgivesRoundingAndNothingMore) {
  EXPECT_EQ(difference(floats({1.00001f, 2}), floats({1, 2})), std::nullopt);
  EXPECT_THAT(difference(floats({1.01f, 2}), floats({1, 2})).value_or(""),
              HasSubstr("1 of 2 elements differ"));
  EXPECT_EQ(difference(floats({1.01f, 2}), floats({1, 2}), ulps(100000)), std::nullopt)
      << "as the spec promises";
}

TEST(RoughDifference, MeasuresAtTheLargestFiniteNumber) {
  EXPECT_EQ(difference(floats({1e-6f, 1000}), floats({-1e-6f, 1000})), std::nullopt) << "terms that cancel";
  EXPECT_NE(difference(floats({1, 3, INFINITY}), floats({1, 2, INFINITY})), std::nullopt);
  EXPECT_NE(difference(floats({1, 3, NAN}), floats({1, 2, NAN})), std::nullopt);
  EXPECT_EQ(difference(floats({1, INFINITY, NAN}), floats({1, INFINITY, NAN})), std::nullopt);
}

TEST(RoughDifference, SeesNumbersThatOneSideLacks) {
  EXPECT_NE(difference(floats({1, NAN}), floats({1, 2})), std::nullopt);
  EXPECT_NE(difference(floats({1, 2}), floats({1, INFINITY})), std::nullopt);
}

TEST(RoughDifference, DemandsIntegersShapesAndDtypes) {
  EXPECT_NE(difference(at::full({2}, 7, c10::kLong), at::full({2}, 8, c10::kLong)), std::nullopt);
  EXPECT_THAT(difference(at::full({2}, 1.0), at::full({3}, 1.0)).value_or(""), HasSubstr("shape"));
  EXPECT_THAT(difference(at::full({2}, 1.0), at::full({2}, 1.0, c10::kDouble)).value_or(""),
              HasSubstr("dtype"));
  EXPECT_EQ(difference(at::full({0}, 1.0), at::full({0}, 1.0)), std::nullopt);
}

TEST(RoughDifference, LooksAtNoValuesOfAnUnspecifiedResult) {
  EXPECT_EQ(rough_difference({{"order", floats({1}), floats({2}), true}}, exact()), std::nullopt);
  EXPECT_NE(rough_difference({{"order", floats({1}), floats({2, 3}), true}}, exact()), std::nullopt);
}

Spec spec_with(const std::string& op, const std::function<void(SpecWriter&)>& write) {
  Spec spec;
  spec.name = op;
  spec.id = "op";
  SpecWriter writer(spec);
  writer.dtypes(c10::kCPU, floating()).reference("aten::relu").accuracy(ulps(1));
  write(writer);
  fit_to_schema(spec);
  return spec;
}

std::vector<BenchResult> run(const Spec& spec, std::vector<int> threads = {1}) {
  std::vector<BenchResult> results;
  run_benches(plan_benches({spec}, {.threads = std::move(threads)}), kLittle,
              {[](size_t, const BenchCase&) {},
               [&](const BenchCase&, const BenchResult& result) { results.push_back(result); }});
  return results;
}

BenchResult run_one(const Spec& spec) {
  const std::vector<BenchResult> results = run(spec);
  EXPECT_EQ(results.size(), 1u);
  return results.at(0);
}

TEST(RunBenches, JudgesByTheLimit) {
  const Spec spec = spec_with("aten::relu", [](SpecWriter& s) {
    s.bench({uniform({4})}).named("met").forward(1e-9);
    s.bench({uniform({4})}).named("missed").forward(1e9);
    s.bench({uniform({4})}).named("free");
  });
  const std::vector<BenchResult> results = run(spec);
  ASSERT_EQ(results.size(), 3u);
  EXPECT_EQ(results[0].verdict, Verdict::met);
  EXPECT_EQ(results[1].verdict, Verdict::missed);
  EXPECT_EQ(results[2].verdict, Verdict::measured);
  EXPECT_FALSE(results[1].is_accepted());
  for (const BenchResult& result : results) {
    ASSERT_TRUE(result.measured);
    EXPECT_EQ(result.bytes, 32);
    EXPECT_GT(result.copy_seconds.value_or(0), 0);
  }
}

TEST(RunBenches, TimesNoWrongAnswer) {
  const BenchResult result = run_one(spec_with(
      "aten::relu", [](SpecWriter& s) { s.bench({uniform({4})}).against("aten::abs").forward(1e-9); }));
  EXPECT_EQ(result.verdict, Verdict::wrong);
  EXPECT_FALSE(result.measured);
  EXPECT_FALSE(result.is_accepted());
  EXPECT_THAT(result.reason, AllOf(HasSubstr("the output"), HasSubstr("elements differ")));
}

TEST(RunBenches, SaysWhichSideRaised) {
  const BenchResult op = run_one(spec_with("aten::mm", [](SpecWriter& s) {
    s.reference([](const at::Tensor& a, const at::Tensor&) { return a; });
    s.bench({uniform({2, 3}), uniform({2, 3})});
  }));
  EXPECT_EQ(op.verdict, Verdict::raised);
  EXPECT_THAT(op.reason, HasSubstr("the operator raised: "));
  const BenchResult baseline = run_one(spec_with("aten::relu", [](SpecWriter& s) {
    s.bench({uniform({4})}).against([](const at::Tensor& x) -> at::Tensor {
      TORCH_CHECK(x.numel() == 0, "broken");
      return x;
    });
  }));
  EXPECT_EQ(baseline.verdict, Verdict::raised);
  EXPECT_EQ(baseline.reason, "the baseline raised: broken");
}

TEST(RunBenches, SaysThatABaselineIsNotThere) {
  const BenchResult result =
      run_one(spec_with("aten::relu", [](SpecWriter& s) { s.bench({uniform({4})}).against("a::b"); }));
  EXPECT_EQ(result.verdict, Verdict::raised);
  EXPECT_THAT(result.reason, AllOf(HasSubstr("bench_run_test.cpp:"), HasSubstr("a::b is not an operator")));
}

TEST(RunBenches, GivesABaselineByNameItsDefaults) {
  const BenchResult result = run_one(spec_with("aten::abs", [](SpecWriter& s) {
    s.bench({uniform({4}, 0, 1)}).against("aten::clone").forward(1e-9);
  }));
  EXPECT_EQ(result.verdict, Verdict::met) << result.reason;
}

TEST(RunBenches, MeasuresWithEachNumberOfThreadsAndGivesThemBack) {
  std::vector<int> seen;
  const Spec spec = spec_with("aten::relu", [&](SpecWriter& s) {
    s.bench({uniform({4})}).against([&seen](const at::Tensor& x) {
      if (seen.empty() || seen.back() != at::get_num_threads()) seen.push_back(at::get_num_threads());
      return at::relu(x);
    });
  });
  const int before = at::get_num_threads();
  EXPECT_EQ(run(spec, {1, 3}).size(), 2u);
  EXPECT_THAT(seen, ElementsAre(1, 3));
  EXPECT_EQ(at::get_num_threads(), before);
}

TEST(RunBenches, OwesWhatNeedsADeviceThatIsNotHere) {
  if (!missing_device(c10::kCUDA)) GTEST_SKIP() << "there is a GPU";
  const Spec spec = spec_with("aten::relu", [](SpecWriter& s) {
    s.dtypes(c10::kCPU, {}).dtypes(c10::kCUDA, floating()).bench({uniform({4})}).forward(1);
  });
  const BenchResult result = run_one(spec);
  EXPECT_EQ(result.verdict, Verdict::owed);
  EXPECT_EQ(result.reason, *missing_device(c10::kCUDA));
  EXPECT_TRUE(result.is_accepted());
}

TEST(ForwardContest, GivesEachBatchTheSameValuesToWriteTo) {
  std::vector<double> seen;
  const Spec spec = spec_with("aten::mul_.Tensor", [&](SpecWriter& s) {
    s.bench({uniform({1}, 1, 2), uniform({1}, 3, 4)})
        .against([&](const at::Tensor& self, const at::Tensor& other) {
          seen.push_back(self.item().toDouble());
          return self.mul_(other);
        });
  });
  const Bench& bench = spec.benches.at(0);
  ValueCache values;
  const CallKey key{&spec, &bench.sample, c10::kFloat, c10::kCPU, std::string(kContiguous)};
  const BenchmarkPair pair = forward_pair(key, bench, values);
  pair.baseline(1);
  pair.op(5);
  pair.baseline(2);
  ASSERT_EQ(seen.size(), 4u);  // the first one compares the results
  EXPECT_EQ(seen[1], seen[0]);
  EXPECT_EQ(seen[2], seen[0]);
  EXPECT_GT(seen[3], 2 * seen[0]);
}

Spec scaled_by(double factor, const std::function<at::Tensor(const at::Tensor&)>& baseline) {
  return spec_with("aten::mul.Scalar", [&](SpecWriter& s) {
    s.promises({differentiable});
    s.bench({uniform({8}), factor}).against([=](const at::Tensor& x, const at::Scalar&) {
      return baseline(x);
    });
  });
}

TEST(BackwardContest, TimesTheDerivative) {
  const std::vector<BenchResult> results =
      run(scaled_by(3, [](const at::Tensor& x) { return at::mul(x, 3); }));
  ASSERT_EQ(results.size(), 2u);  // forward, backward
  for (const BenchResult& result : results) EXPECT_EQ(result.verdict, Verdict::measured) << result.reason;
  EXPECT_EQ(results[1].bytes, 64) << "the gradient that comes, and the one that goes";
}

TEST(BackwardContest, HasNoRateIfTheGradientIsTheCotangent) {
  const std::vector<BenchResult> results = run(spec_with("aten::add.Scalar", [](SpecWriter& s) {
    s.promises({differentiable}).bench({uniform({8}), 2.0}).against("aten::add.Scalar");
  }));
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].bytes, 64);
  EXPECT_EQ(results[1].bytes, 0);
  EXPECT_FALSE(results[1].copy_seconds);
}

TEST(ForwardContest, HasNoRateForAView) {
  const BenchResult result = run_one(spec_with("aten::t", [](SpecWriter& s) {
    s.bench({uniform({4, 8})}).against("aten::t");
  }));
  EXPECT_EQ(result.verdict, Verdict::measured) << result.reason;
  EXPECT_EQ(result.bytes, 0);
}

TEST(BackwardContest, TimesNoWrongGradient) {
  const auto results = run(scaled_by(3, [](const at::Tensor& x) { return at::mul(x, 2).add_(x.detach()); }));
  EXPECT_EQ(results.at(0).verdict, Verdict::measured) << "the values are right";
  EXPECT_EQ(results.at(1).verdict, Verdict::wrong);
  EXPECT_THAT(results[1].reason, HasSubstr("the gradient at `self`"));
}

TEST(BackwardContest, SaysThatASideHasNoDerivative) {
  const auto results = run(scaled_by(3, [](const at::Tensor& x) { return at::mul(x, 3).detach(); }));
  EXPECT_EQ(results.at(1).verdict, Verdict::raised);
  EXPECT_THAT(results[1].reason, HasSubstr("the baseline gives the output no gradient"));
  const auto none = run(spec_with("aten::detach", [](SpecWriter& s) {
    s.promises({differentiable}).bench({uniform({8})}).against("aten::clone");
  }));
  EXPECT_EQ(none.at(1).verdict, Verdict::raised);
  EXPECT_THAT(none[1].reason, HasSubstr("the operator's results require no gradient"));
}

}  // namespace
}  // namespace opgate::bench_run_test
