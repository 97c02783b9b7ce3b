// grad.layout: the same gradients for incoming ones of any layout, and whichever inputs require grad.
#include <ATen/TensorOperators.h>
#include <fmt/format.h>

#include "checks/check.h"
#include "checks/gradients.h"
#include "checks/outputs.h"

namespace opgate::grad_layout {
namespace {

constexpr auto kPromised = "the same gradients whatever the layout of the incoming ones";
constexpr auto kAnySubset = "the same gradients whichever of the inputs require grad";
constexpr auto kAnyOutput =
    "the same gradients where some outputs have an incoming gradient of zeros or none";

Judgement judge_layouts(Evidence& evidence, const Slack& slack) {
  for (const Layout& layout : Registry<Layout>::instance().parts()) {
    if (!layout.same_sizes || layout.name == kContiguous) continue;
    const Asking strided{.cotangents = std::string(layout.name)};
    Asking dense = strided;
    dense.dense = true;
    const Differentiated want = differentiated(evidence, dense, kPromised);
    if (want.none) return *want.none;
    const auto when = fmt::format("when incoming gradients are {}", layout.name);
    const Differentiated got = differentiated(evidence, strided, kPromised + (", " + when));
    if (got.none) return *got.none;
    Judgement judgement =
        judge_gradients(got.derivative, want.derivative, *evidence.key().spec, slack, kPromised, when);
    if (!judgement.finding) continue;
    judgement.finding->likely =
        "the backward reads the incoming gradient as if it were dense; .sum().backward() sends in an "
        "expanded "
        "one. Call .contiguous() on it, or read through its strides";
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

Judgement judge_subsets(Evidence& evidence, const Derivative& whole, const Slack& slack) {
  for (const std::set<std::string>& subset :
       subsets(differentiable_inputs(evidence.key(), evidence.bench().values))) {
    const auto when = fmt::format("when only `{}` require{} grad", fmt::join(subset, "`, `"),
                                  subset.size() == 1 ? "s" : "");
    const Differentiated got = differentiated(evidence, {.inputs = subset}, kAnySubset + (", " + when));
    const Derivative& found = got.derivative;
    // An input that the result does not depend on: zeros, which the others' gradients must be, too.
    const bool independent = !found.call && !found.backward && !found.exists;
    if (got.none && !independent) return *got.none;
    const Judgement judgement = judge_gradients(found, whole, *evidence.key().spec, slack, kAnySubset, when);
    if (judgement.verdict != Verdict::pass) return judgement;
  }
  return Judgement::pass();
}

// Each output alone: what arrives from all must be the sum of what arrives from each.
Judgement judge_outputs(Evidence& evidence, const Derivative& whole, Slack slack) {
  std::optional<Derivative> sum;
  for (size_t i = 0; i < whole.incoming.size(); ++i) {
    if (!whole.incoming[i].defined()) continue;
    const Asking alone{.output = i};
    Derivative part = derivative(evidence.key(), evidence.bench().values, alone);
    if (!part.call && !part.backward && !part.exists) continue;  // an output without a derivative
    const auto when = fmt::format("when only output {} has an incoming gradient", i);
    if (part.backward)
      return Judgement::fail({kAnyOutput,
                              when + ", the derivative raised: " + part.backward->message,
                              "the gradients of the other outputs are undefined tensors there",
                              {}});
    // The parts may be large where their sum is small.
    for (const Arrived& arrived : part.arrived) slack[arrived.at] += rounding_of(arrived.gradient);
    if (!sum) {
      sum = std::move(part);
      continue;
    }
    for (size_t leaf = 0; leaf < part.arrived.size(); ++leaf)
      sum->arrived[leaf].gradient = sum->arrived[leaf].gradient + part.arrived[leaf].gradient;
  }
  if (!sum) return Judgement::pass();
  return judge_gradients(*sum, whole, *evidence.key().spec, slack, kAnyOutput,
                         "added up over the outputs, one at a time");
}

Judgement judge(Evidence& evidence) {
  if (auto refused = refused_sample(evidence)) return *std::move(refused);
  const Differentiated whole = differentiated(evidence, {}, kPromised);
  if (whole.none) return *whole.none;
  const Slack allowed = slack(evidence, whole.derivative);
  Judgement judgement = judge_layouts(evidence, allowed);
  if (judgement.verdict == Verdict::pass) judgement = judge_subsets(evidence, whole.derivative, allowed);
  if (judgement.verdict == Verdict::pass) judgement = judge_outputs(evidence, whole.derivative, allowed);
  return judgement;
}

OPGATE_REGISTER_CHECK(
    grad_layout,
    {.name = "grad.layout",
     .explanation =
         {.promise = "The same gradients for incoming gradients of any layout, undefined ones among them, "
                     "and for any subset of inputs that requires grad.",
          .why = "y.sum().backward() sends in a gradient whose strides are all 0; y.t() a transposed one. Of "
                 "several outputs most have none. Frozen weights do not require grad. Tests rarely try any "
                 "of it.",
          .fix = "In the backward, call .contiguous() on each incoming gradient or read through its strides; "
                 "ask .defined() before you use one; ask needs_input_grad before you compute one.",
          .example =
              "fla 871, unsloth 10675: backward kernels that took an expanded gradient for a dense one.",
          .wrong =
              R"(const auto* g = grad.const_data_ptr<float>();  // of .sum(): one number, strides of 0
for (int64_t i = 0; i < x.numel(); ++i) to[i] = 2 * from[i] * g[i];)",
          .right = R"(const at::Tensor dense_grad = grad.contiguous();
const auto* g = dense_grad.const_data_ptr<float>();
for (int64_t i = 0; i < x.numel(); ++i) to[i] = 2 * from[i] * g[i];)"},
     .worker = Worker::native,
     .scope = {.variants = Scope::Variants::contiguous,
               .promised = Promise::differentiable,
               .derivatives = true},
     .judge = &judge});

}  // namespace
}  // namespace opgate::grad_layout
