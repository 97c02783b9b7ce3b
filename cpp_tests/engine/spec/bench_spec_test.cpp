// What a spec can say about speed, the messages for contradictions, and the measurements that follow.
#include <ATen/ops/relu.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "bench/bench_case.h"
#include "spec/spec.h"
#include "spec/specs.h"
#include "support.h"

namespace opgate::bench_spec_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::message_of;

constexpr const char* kRelu = "aten::relu";

Spec relu_spec(const std::function<void(SpecWriter&)>& write, const std::string& op = kRelu) {
  Spec spec;
  spec.name = op;
  spec.id = "relu";
  spec.where = "my_spec.cpp:7";
  SpecWriter writer(spec);
  writer.dtypes(floating()).reference([](const at::Tensor& x) { return at::relu(x); }).accuracy(exact());
  write(writer);
  fit_to_schema(spec);
  return spec;
}

std::string contradiction(const std::function<void(SpecWriter&)>& write, const std::string& op = kRelu) {
  return message_of<SpecError>([&] { relu_spec(write, op); });
}

std::vector<std::string> planned(const Spec& spec, BenchFilter filter) {
  if (filter.threads.empty()) filter.threads = {1};
  std::vector<std::string> all;
  const std::vector<Spec> specs{spec};
  for (const BenchCase& bench : plan_benches(specs, filter)) {
    all.push_back(bench.bench->sample.name + " " + std::string(to_string(bench.direction)) + " " +
                  (bench.device == c10::kCPU ? "cpu" : "cuda") + std::to_string(bench.threads));
  }
  return all;
}

TEST(SpecWriterBench, NamesABenchByItsShapesUnlessNamed) {
  const Spec spec = relu_spec([](SpecWriter& s) {
    s.bench({uniform({4, 8})});
    s.bench({uniform({4, 8})}).named("BEVDet").dtype(c10::kHalf);
  });
  EXPECT_EQ(spec.benches.at(0).sample.name, "4x8");
  EXPECT_EQ(spec.benches[0].dtype, c10::kFloat);
  EXPECT_EQ(spec.benches.at(1).sample.name, "BEVDet");
  EXPECT_EQ(spec.benches[1].dtype, c10::kHalf);
  EXPECT_THAT(spec.benches[1].sample.where, HasSubstr("bench_spec_test.cpp:"));
}

TEST(SpecWriterBench, TakesLimitsForAllDevicesOrForOne) {
  const Spec spec =
      relu_spec([](SpecWriter& s) { s.bench({uniform({4})}).forward(0.95).forward(c10::kCUDA, 2); });
  EXPECT_EQ(spec.benches.at(0).forward.on(c10::kCPU), 0.95);
  EXPECT_EQ(spec.benches[0].forward.on(c10::kCUDA), 2);
  EXPECT_EQ(spec.benches[0].backward.on(c10::kCPU), std::nullopt);
}

TEST(SpecWriterBench, ComparesWithTheReferenceUnlessToldOtherwise) {
  const Spec spec = relu_spec([](SpecWriter& s) {
    s.reference("aten::clone");
    s.bench({uniform({4})});
    s.bench({uniform({4})}).named("other").against("aten::abs");
    s.bench({uniform({4})}).named("callable").against([](const at::Tensor& x) { return at::relu(x); });
  });
  EXPECT_EQ(spec.benches.at(0).baseline_op, "aten::clone");
  EXPECT_EQ(spec.benches.at(1).baseline_op, "aten::abs");
  EXPECT_EQ(spec.benches.at(2).baseline_op, "");
  for (const Bench& bench : spec.benches) EXPECT_TRUE(bench.baseline);
}

TEST(SpecWriterBench, FillsInDefaults) {
  const Spec spec = relu_spec(
      [](SpecWriter& s) {
        s.bench({uniform({4}), uniform({4})});
      },
      "aten::add.Tensor");
  EXPECT_EQ(spec.benches.at(0).sample.arguments.size(), 3u);
}

TEST(SpecWriterBench, RefusesALimitThatIsNoRatio) {
  for (const double ratio : {0.0, -1.0, double(NAN), double(INFINITY)}) {
    EXPECT_THAT(
        contradiction([&](SpecWriter& s) { s.bench({uniform({4})}).forward(ratio); }),
        AllOf(HasSubstr("bench_spec_test.cpp:"), HasSubstr(".forward("), HasSubstr("a ratio above 0")));
    EXPECT_THAT(contradiction([&](SpecWriter& s) { s.bench({uniform({4})}).backward(c10::kCPU, ratio); }),
                HasSubstr(".backward("));
  }
}

TEST(SpecWriterBench, RefusesTwoBenchesOfOneName) {
  EXPECT_THAT(contradiction([](SpecWriter& s) {
                s.bench({uniform({4})});
                s.bench({uniform({4})}).dtype(c10::kHalf);
              }),
              AllOf(HasSubstr("bench_spec_test.cpp:"), HasSubstr("two benches of aten::relu are named '4'")));
}

TEST(SpecWriterBench, RefusesABenchWithNothingToBeComparedWith) {
  Spec spec;
  spec.name = kRelu;
  SpecWriter(spec).dtypes(floating()).bench({uniform({4})});
  EXPECT_THAT(
      message_of<SpecError>([&] { fit_to_schema(spec); }),
      AllOf(HasSubstr("bench_spec_test.cpp:"), HasSubstr("nothing to be compared with: add .against(")));
}

TEST(SpecWriterBench, RefusesALimitForTheDerivativeOfWhatPromisesNone) {
  EXPECT_THAT(contradiction([](SpecWriter& s) { s.bench({uniform({4})}).backward(0.9); }),
              AllOf(HasSubstr("bench_spec_test.cpp:"), HasSubstr("does not promise `differentiable`")));
}

TEST(SpecWriterBench, RefusesALimitForTheDerivativeOfWhatWritesToItsArguments) {
  const auto write = [](SpecWriter& s) { s.promises({differentiable}).bench({uniform({4})}).backward(0.9); };
  EXPECT_THAT(contradiction(write, "aten::relu_"), HasSubstr("writes to its arguments"));
}

TEST(SpecWriterBench, RefusesArgumentsThatDoNotFitTheSchema) {
  EXPECT_THAT(contradiction([](SpecWriter& s) {
                s.bench({uniform({4}), 1});
              }),
              AllOf(HasSubstr("bench_spec_test.cpp:"), HasSubstr("has 2 arguments, but the schema takes 1")));
  EXPECT_THAT(contradiction([](SpecWriter& s) { s.bench({3}); }), HasSubstr("gives 'self' a int"));
  EXPECT_THAT(contradiction([](SpecWriter& s) { s.bench({uniform({4, -1})}); }), HasSubstr("negative size"));
}

TEST(SpecWriterBench, RefusesADtypeThatTheSpecDoesNotAccept) {
  EXPECT_THAT(contradiction([](SpecWriter& s) { s.bench({uniform({4})}).dtype(c10::kInt); }),
              AllOf(HasSubstr("int32"), HasSubstr(".dtype(")));
}

TEST(SpecWriterBench, RefusesALimitWhereTheDtypeIsNotAccepted) {
  EXPECT_THAT(contradiction([](SpecWriter& s) {
                s.dtypes(c10::kCUDA, {}).bench({uniform({4})}).forward(c10::kCUDA, 0.9);
              }),
              AllOf(HasSubstr("a limit on cuda"), HasSubstr("never be measured")));
}

TEST(PlanBenches, MeasuresEachNumberOfThreadsOnTheCpuAndOnceOnCuda) {
  const Spec spec = relu_spec([](SpecWriter& s) { s.bench({uniform({4})}); });
  EXPECT_THAT(planned(spec, {.threads = {1, 2}}),
              ElementsAre("4 forward cpu1", "4 forward cpu2", "4 forward cuda0"));
}

TEST(PlanBenches, MeasuresTheDerivativeWhereThereIsOne) {
  const Spec spec = relu_spec(
      [](SpecWriter& s) { s.dtypes(c10::kCUDA, {}).promises({differentiable}).bench({uniform({4})}); });
  EXPECT_THAT(planned(spec, {}), ElementsAre("4 forward cpu1", "4 backward cpu1"));
  EXPECT_THAT(planned(spec, {.directions = {"backward"}}), ElementsAre("4 backward cpu1"));
}

TEST(PlanBenches, MeasuresOnlyWhereTheDtypeIsAccepted) {
  const Spec spec = relu_spec([](SpecWriter& s) {
    s.dtypes(c10::kCPU, {c10::kFloat}).dtypes(c10::kCUDA, {c10::kHalf, c10::kFloat});
    s.bench({uniform({4})}).dtype(c10::kHalf);
  });
  EXPECT_THAT(planned(spec, {}), ElementsAre("4 forward cuda0"));
}

TEST(PlanBenches, RefusesPatternsThatMatchNothing) {
  const Spec spec = relu_spec([](SpecWriter& s) { s.dtypes(c10::kCUDA, {}).bench({uniform({4})}); });
  EXPECT_THAT(planned(spec, {.ops = {"re*"}}), ElementsAre("4 forward cpu1"));
  EXPECT_THAT(message_of<SetupError>([&] { planned(spec, {.ops = {"gelu"}}); }),
              AllOf(HasSubstr("'gelu'"), HasSubstr("there are: relu")));
  EXPECT_THAT(message_of<SetupError>([&] { planned(spec, {.devices = {"cuda"}}); }),
              HasSubstr("nothing to measure"));
  EXPECT_THAT(message_of<SetupError>([&] { planned(relu_spec([](SpecWriter&) {}), {}); }),
              HasSubstr("no spec here has a bench"));
}

}  // namespace
}  // namespace opgate::bench_spec_test
