// grad.layout: gradients are the same for incoming gradients of any layout, and whichever inputs require
// grad.
#include <ATen/TensorOperators.h>
#include <fmt/format.h>

#include "judging/check.h"
#include "judging/comparison/gradient_judgement.h"
#include "judging/comparison/output_judgement.h"

namespace opgate::grad_layout {
namespace {

constexpr auto kPromised = "the same gradients whatever the layout of the cotangents (incoming gradients)";
constexpr auto kAnySubset = "the same gradients whichever of the inputs require grad";
constexpr auto kAnyOutput =
    "the same gradients where some outputs have an incoming gradient of zeros or none";

Judgement judge_layouts(CallUnderTest& under_test, const GradientTolerance& tolerance) {
  for (const Layout& layout : Registry<Layout>::instance().parts()) {
    if (!layout.same_sizes || layout.name == kContiguous) continue;
    const DerivativeRequest strided{.cotangent_layout = std::string(layout.name)};
    DerivativeRequest dense = strided;
    dense.dense = true;
    const Differentiated want = differentiated(under_test, dense, kPromised);
    if (want.none) return *want.none;
    const auto when = fmt::format("when incoming gradients are {}", layout.name);
    const Differentiated got = differentiated(under_test, strided, kPromised + (", " + when));
    Judgement judgement = got.none ? *got.none
                                   : judge_gradients(got.derivative, want.derivative, *under_test.key().spec,
                                                     tolerance, kPromised, when);
    if (!got.none && !judgement.finding) continue;
    const bool is_written =
        judgement.finding && (explain_by_written_cotangent(want.derivative, *judgement.finding) ||
                              explain_by_written_cotangent(got.derivative, *judgement.finding));
    if (is_written || got.none) return judgement;
    judgement.finding->likely =
        "the backward reads the incoming gradient as if it were dense, and .sum().backward() passes an "
        "expanded one; call .contiguous() on it, or read it through its strides";
    return judgement;
  }
  return Judgement::pass();
}

std::vector<std::set<std::string>> subsets(const std::vector<std::string>& names) {
  std::vector<std::set<std::string>> some;
  if (names.size() < 2) return some;
  for (const std::string& name : names) some.push_back({name});
  if (names.size() < 3) return some;
  for (const std::string& name : names) {
    some.emplace_back(names.begin(), names.end());
    some.back().erase(name);
  }
  return some;
}

Judgement judge_subsets(CallUnderTest& under_test, const Derivative& whole,
                        const GradientTolerance& tolerance) {
  for (const std::set<std::string>& subset :
       subsets(differentiable_inputs(under_test.key(), under_test.cache().values))) {
    const auto when = fmt::format("when only `{}` require{} grad", fmt::join(subset, "`, `"),
                                  subset.size() == 1 ? "s" : "");
    const Differentiated got = differentiated(under_test, {.inputs = subset}, kAnySubset + (", " + when));
    const Derivative& found = got.derivative;
    // A result that does not depend on these inputs gives zeros for them, which `whole` must hold, too.
    const bool independent = !found.call && !found.backward && !found.exists;
    if (got.none && !independent) return *got.none;
    const Judgement judgement =
        judge_gradients(found, whole, *under_test.key().spec, tolerance, kAnySubset, when);
    if (judgement.verdict != Verdict::pass) return judgement;
  }
  return Judgement::pass();
}

// Gives a cotangent to each output alone: these gradients must add up to the gradients for all outputs.
Judgement judge_outputs(CallUnderTest& under_test, const Derivative& whole, GradientTolerance tolerance) {
  std::optional<Derivative> sum;
  for (size_t i = 0; i < whole.cotangents.size(); ++i) {
    if (!whole.cotangents[i].defined()) continue;
    const DerivativeRequest alone{.output = i};
    Derivative part = derivative(under_test.key(), under_test.cache().values, alone);
    if (!part.call && !part.backward && !part.exists) continue;  // an output without a derivative
    const auto when = fmt::format("when only output {} has an incoming gradient", i);
    if (part.backward)
      return Judgement::fail({kAnyOutput, when + ", the derivative raised: " + part.backward->message,
                              "the backward uses the gradients of the other outputs, which are undefined "
                              "tensors; check .defined() first"});
    // The parts may be large where their sum is small, so the rounding of each part is allowed for.
    for (const LeafGradient& arrived : part.leaf_gradients)
      tolerance[arrived.at].conditioning += rounding_of(arrived.gradient);
    if (!sum) {
      sum = std::move(part);
      continue;
    }
    for (size_t leaf = 0; leaf < part.leaf_gradients.size(); ++leaf)
      sum->leaf_gradients[leaf].gradient =
          sum->leaf_gradients[leaf].gradient + part.leaf_gradients[leaf].gradient;
  }
  if (!sum) return Judgement::pass();
  return judge_gradients(*sum, whole, *under_test.key().spec, tolerance, kAnyOutput,
                         "with the gradients for one output at a time added up");
}

Judgement judge(CallUnderTest& under_test) {
  if (auto refused = refused_sample(under_test)) return *std::move(refused);
  const Differentiated whole = differentiated(under_test, {}, kPromised);
  if (whole.none) return *whole.none;
  const GradientTolerance allowed = gradient_tolerance(under_test, whole.derivative);
  Judgement judgement = judge_layouts(under_test, allowed);
  if (judgement.verdict == Verdict::pass) judgement = judge_subsets(under_test, whole.derivative, allowed);
  if (judgement.verdict == Verdict::pass) judgement = judge_outputs(under_test, whole.derivative, allowed);
  return judgement;
}

OPGATE_REGISTER_CHECK(grad_layout, {.name = "grad.layout",
                                    .scope = {.variants = Scope::Variants::contiguous,
                                              .promised = Promise::differentiable,
                                              .derivatives = true},
                                    .explores = true,
                                    .judge = &judge});

}  // namespace
}  // namespace opgate::grad_layout
