// error.raises: PyTorch's own operators must pass, and each defect that it is made for must fail.
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/GradMode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/library.h>

#include <cmath>
#include <optional>
#include <stdexcept>

#include "inputs/bad_inputs.h"
#include "judging/all_checks.h"
#include "judging/calls/judge_call.h"
#include "judging/verdict.h"
#include "plan/plan.h"
#include "run/worker/worker.h"
#include "spec/spec.h"
#include "support.h"

namespace opgate::error_raises_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::spec_of;

std::string said(const Judgement& judgement) {
  std::string text = std::string(to_string(judgement.verdict)) + ": " + judgement.reason;
  if (judgement.finding) {
    text +=
        judgement.finding->promised + " | " + judgement.finding->happened + " | " + judgement.finding->likely;
  }
  return text;
}

// What error.raises says or, where it passes, error.message.
Judgement judged(const CallKey& key, WorkerCache& cache) {
  const std::vector<Check> checks = native_checks();
  const auto both =
      judge_call(key, {&find_check(checks, "error.raises"), &find_check(checks, "error.message")}, cache);
  const Judgement& raises = both.at("error.raises");
  return raises.verdict == Verdict::pass ? both.at("error.message") : raises;
}

struct Tried {
  size_t bad_inputs = 0;
  std::string failures;  // the texts of those that did not pass without a note
};

Tried try_all(const Spec& spec) {
  Tried tried;
  const std::vector<Check> checks{find_check(native_checks(), "error.raises")};
  WorkerCache cache;
  const std::vector<Spec> specs{spec};
  for (const PlannedCall& call : make_plan(specs, checks).calls) {
    ++tried.bad_inputs;
    const Judgement judgement = judged(call.key, cache);
    if (judgement.verdict != Verdict::pass || judgement.finding)
      tried.failures += call.id + ": " + said(judgement) + "\n";
  }
  return tried;
}

TensorArgument index(Shape shape, double last) { return uniform(std::move(shape), 0, last).of(c10::kLong); }

struct Control {
  const char* op;
  std::vector<Argument> sample;
};

using Ints = std::vector<int64_t>;

void PrintTo(const Control& control, std::ostream* out) { *out << control.op; }

class ErrorRaisesControl : public ::testing::TestWithParam<Control> {};

// These operators check their arguments, and their messages say something, so that any finding would be
// wrong. avg_pool2d is left out, because torch 2.11 says only "integer out of range" for a kernel_size of 0.
TEST_P(ErrorRaisesControl, PassesPyTorch) {
  const Spec spec = spec_of(GetParam().op, {GetParam().sample}, {c10::kFloat, c10::kDouble});
  const Tried tried = try_all(spec);
  EXPECT_EQ(tried.failures, "");
  EXPECT_GE(tried.bad_inputs, 4u);
}

INSTANTIATE_TEST_SUITE_P(
    Aten, ErrorRaisesControl,
    ::testing::Values(
        Control{"aten::relu", {uniform({4, 6})}},
        Control{"aten::add.Tensor", {uniform({4, 6}), uniform({6}), 2}},
        Control{"aten::index_select", {uniform({4, 6}), 1, indices({3}, 6)}},
        Control{"aten::gather", {uniform({4, 6}), 1, index({4, 3}, 5)}},
        Control{"aten::native_layer_norm", {uniform({4, 6}), Ints{6}, uniform({6}), uniform({6}), 1e-5}},
        Control{"aten::layer_norm", {uniform({4, 6}), Ints{6}, uniform({6}), uniform({6}), 1e-5}},
        Control{"aten::conv2d",
                {uniform({2, 3, 8, 8}), uniform({4, 3, 3, 3}), uniform({4}), Ints{1, 1}, Ints{1, 1},
                 Ints{1, 1}, 1}},
        Control{"aten::bmm", {uniform({2, 3, 4}), uniform({2, 4, 5})}},
        Control{"aten::addmm", {uniform({5}), uniform({3, 4}), uniform({4, 5})}},
        Control{"aten::cat", {std::vector<TensorArgument>{uniform({2, 3}), uniform({4, 3})}, 0}},
        Control{"aten::stack", {std::vector<TensorArgument>{uniform({2, 3}), uniform({2, 3})}, 0}},
        Control{"aten::embedding", {uniform({10, 4}), index({6}, 9)}},
        Control{"aten::max_pool2d", {uniform({2, 3, 8, 8}), Ints{2, 2}}},
        Control{"aten::constant_pad_nd", {uniform({2, 3}), Ints{1, 1}}},
        Control{"aten::scatter_add", {uniform({4, 6}), 1, index({4, 3}, 5), uniform({4, 3})}},
        Control{"aten::scatter_add_", {uniform({4, 6}), 1, index({4, 3}, 5), uniform({4, 3})}},
        Control{"aten::index_add", {uniform({4, 6}), 0, index({3}, 3), uniform({3, 6})}},
        Control{"aten::softmax.int", {uniform({4, 6}), 1}},
        Control{"aten::upsample_nearest2d", {uniform({1, 2, 4, 4}), Ints{8, 8}}},
        Control{"aten::topk", {uniform({4, 6}), 2}}),
    [](const auto& info) {
      std::string name = info.param.op;
      std::ranges::replace_if(
          name, [](char c) { return std::isalnum(c) == 0; }, '_');
      return name;
    });

Spec neg_beside(Reference reference) {
  Spec spec = spec_of("aten::neg", {{uniform({6})}});
  spec.reference = std::move(reference);
  spec.reference_op.clear();
  return spec;
}

TEST(ErrorRaises, FailsOnlyWhereAnInputIsDamaged) {
  const Tried tried = try_all(
      neg_beside(reference_from([](const at::Tensor& x) { return x.dim() == 1 ? x.neg() : x.abs(); })));
  EXPECT_THAT(tried.failures, HasSubstr("bad:self.rank+1"));
}

TEST(ErrorRaises, LeavesToValueReferenceWhatIsWrongOnTheSampleItself) {
  const Tried tried = try_all(neg_beside(reference_from([](const at::Tensor& x) { return x.abs(); })));
  EXPECT_EQ(tried.failures, "");
  EXPECT_GE(tried.bad_inputs, 2u);
}

// Its terms cancel, so that errors which are small beside them are many ulps of the result.
TEST(ErrorRaises, MeasuresABadInputAtTheScaleOfTheSpec) {
  Spec spec = spec_of("aten::sum", {{uniform({60})}}, {c10::kFloat});
  const auto sum_with_error = [](double ulps) {
    return reference_from([ulps](const at::Tensor& x, std::optional<at::ScalarType> dtype) {
      if (dtype) return x.sum(dtype);
      const double error = x.dim() == 1 ? 0 : ulps * std::ldexp(1.0, -24);
      return x.sum() + error * x.abs().sum();
    });
  };
  spec.accuracy = ulps(16).scaled_by_inputs();
  spec.reference_op.clear();
  spec.reference = sum_with_error(12);
  EXPECT_EQ(try_all(spec).failures, "");
  spec.reference = sum_with_error(1000);
  EXPECT_THAT(try_all(spec).failures, HasSubstr("bad:self.rank+1"));
}

}  // namespace
}  // namespace opgate::error_raises_test
