#include "checks/gradients.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/full_like.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "checks/memory.h"
#include "checks/outputs.h"
#include "compare/comparison.h"
#include "compare/float_format.h"

namespace opgate {
namespace {

// What a gradient may be off where its spec does not say: rounding that grows with the largest element of the
// gradient, because each element is a sum whose terms may cancel. A wrong formula is off by far more.
constexpr Accuracy kGradientAccuracy = ulps(64);

// A change of the inputs by one ulp is nobody's fault: what it makes of the gradient, so many times.
constexpr double kNudges = 8;
// A gradient is a sum of terms of about the size of what came in, which may cancel: ulps of that, and what a
// reference in Double cannot tell from 0.
constexpr double kIncomingUlps = 4;
constexpr double kNoise = 0x1p-36;

// The largest magnitude of a finite element.
double largest(const at::Tensor& tensor) {
  const at::Tensor wide = tensor.abs().to(at::kDouble).nan_to_num(0, 0, 0).contiguous();
  const double* values = wide.const_data_ptr<double>();
  return wide.numel() == 0 ? 0 : *std::max_element(values, values + wide.numel());
}

// A gradient is no better than what came in: that of a Double argument, from a result of Half, is of Half.
at::Tensor rounded(const Derivative& derivative, const at::Tensor& gradient) {
  c10::ScalarType coarsest = gradient.scalar_type();
  for (const at::Tensor& incoming : derivative.incoming) {
    if (incoming.defined() && c10::elementSize(incoming.scalar_type()) < c10::elementSize(coarsest))
      coarsest = incoming.scalar_type();
  }
  return gradient.is_complex() ? gradient : gradient.to(coarsest);
}

double largest_incoming(const Derivative& derivative) {
  double size = 0;
  for (const auto* incoming : {&derivative.incoming, &derivative.incoming_second}) {
    for (const at::Tensor& tensor : *incoming) size = std::max(size, tensor.defined() ? largest(tensor) : 0);
  }
  return size;
}

const Arrived* find(const Derivative& derivative, const std::string& at) {
  const auto found = std::ranges::find(derivative.arrived, at, &Arrived::at);
  return found == derivative.arrived.end() ? nullptr : &*found;
}

// Results need not depend on the only inputs that have a tangent: theirs are zeros then.
bool may_be_independent(const Asking& asking) { return asking.forward && asking.inputs; }

Differentiated reference_differentiated(Evidence& evidence, const Asking& asking, const Derivative& mine) {
  Differentiated made{reference_derivative(evidence.key(), evidence.bench().values, asking, mine),
                      std::nullopt};
  const auto& raised = made.derivative.call ? made.derivative.call : made.derivative.backward;
  const bool independent = !raised && may_be_independent(asking);
  if (!made.derivative.ok() && !independent) {
    made.none = Judgement::invalid(fmt::format(
        "{}: the reference of {} has no derivative to compare with{}; write it with operators that have one",
        evidence.key().spec->where, evidence.key().spec->name, raised ? ": " + raised->message : ""));
  }
  return made;
}

Slack slack_around(Evidence& evidence, Asking asking, const Derivative& mine, const Derivative& reference) {
  Slack allowed;
  asking.nudged = true;
  const Differentiated nudged = reference_differentiated(evidence, asking, mine);
  if (nudged.none) return allowed;
  for (const Arrived& moved : nudged.derivative.arrived) {
    if (const Arrived* arrived = find(reference, moved.at))
      allowed[moved.at] = kNudges * largest(moved.gradient - arrived->gradient);
  }
  return allowed;
}

}  // namespace

Differentiated differentiated(Evidence& evidence, const Asking& asking, const std::string& promised) {
  Differentiated made{derivative(evidence.key(), evidence.bench().values, asking), std::nullopt};
  const auto fail = [&](std::string happened, std::string likely) {
    made.none = Judgement::fail({promised, std::move(happened), std::move(likely), {}});
  };
  if (made.derivative.call && !evidence.observed().outcome.ok()) {
    made.none = Judgement::pass();  // refused with and without gradients: value.layout says whether it may
  } else if (made.derivative.call) {
    fail(fmt::format("the call raised where an input {}: {}",
                     asking.forward ? "has a tangent" : "requires grad", made.derivative.call->message),
         asking.forward ? "its autograd function has no jvp"
                        : "the autograd kernel refuses what the plain one takes");
  } else if (made.derivative.backward) {
    fail("the derivative raised: " + made.derivative.backward->message, "");
  } else if (!made.derivative.exists && may_be_independent(asking)) {
    return made;
  } else if (!made.derivative.exists && asking.forward) {
    fail("no output has a tangent, though an input has",
         "the kernels compute below autograd, where tangents are lost: write the operator as a composite of "
         "differentiable ones, or give its autograd function a jvp");
  } else if (!made.derivative.exists) {
    fail(asking.order == Order::first ? "no output requires grad, though an input does"
                                      : "no gradient requires grad: it cannot be differentiated again",
         asking.order == Order::first
             ? "no autograd kernel is registered, or it computes where gradients are off; see "
               "torch::autograd::Function and torch.library.register_autograd"
             : "the backward computes on data that autograd does not see: write it with differentiable "
               "operators, or give it a derivative of its own");
  } else if (!made.derivative.damage.empty()) {
    made.none = Judgement::fail(describe_damage(made.derivative.damage.front(), {}));
  }
  return made;
}

double rounding_of(const at::Tensor& gradient) {
  return kGradientAccuracy.ulps * ulp_at(1, *float_format(gradient.scalar_type())) * largest(gradient);
}

Slack slack(Evidence& evidence, const Derivative& mine) {
  if (evidence.key().spec->reference == nullptr) return {};
  const Differentiated reference = reference_differentiated(evidence, {}, mine);
  return reference.none ? Slack() : slack_around(evidence, {}, mine, reference.derivative);
}

Judgement judge_gradients(const Derivative& got, const Derivative& want, const Spec& spec, const Slack& slack,
                          const std::string& promised, const std::string& when) {
  const Accuracy accuracy = spec.gradient_accuracy.value_or(kGradientAccuracy).scaled_by_inputs();
  const double came_in = largest_incoming(got);
  for (const auto& [at, exact_gradient] : got.arrived) {
    const Arrived* expected = find(want, at);
    if (expected == nullptr)
      return Judgement::invalid(fmt::format("{}: the reference has no gradient at {}", spec.where, at));
    const at::Tensor gradient = rounded(got, exact_gradient);
    const auto found = slack.find(at);
    const double ulp = ulp_at(1, *float_format(gradient.scalar_type()));
    const double allowed =
        came_in * std::max(kIncomingUlps * ulp, kNoise) + (found == slack.end() ? 0 : found->second);
    const double scale = largest(expected->gradient) + allowed / (std::max(accuracy.ulps, 1.0) * ulp);
    const at::Tensor scales = at::full_like(expected->gradient, scale, at::kDouble);
    const Comparison comparison = compare(gradient, expected->gradient, accuracy, scales);
    if (comparison.within()) continue;
    return Judgement::fail(
        {promised,
         fmt::format("{}{}{}: {}", when, when.empty() ? "" : ", ",
                     got.forward ? "the tangent of " + at : fmt::format("the gradient at `{}`", at),
                     difference_text(comparison, gradient, expected->gradient)),
         "", neighbourhood(comparison, gradient, expected->gradient)});
  }
  return Judgement::pass();  // its ulps are not those that the spec promises for values
}

Judgement judge_reference_gradients(Evidence& evidence, const Asking& asking, const Derivative& mine,
                                    const std::string& promised, const std::string& when) {
  const Differentiated reference = reference_differentiated(evidence, asking, mine);
  if (reference.none) return *reference.none;
  return judge_gradients(mine, reference.derivative, *evidence.key().spec,
                         slack_around(evidence, asking, mine, reference.derivative), promised, when);
}

Judgement judge_repeated_gradients(Evidence& evidence, const Derivative& first) {
  const std::string promised = "the same bits of every gradient on every call";
  const Differentiated again = differentiated(evidence, {}, promised);
  if (again.none) return *again.none;
  std::vector<at::Tensor> mine, theirs;
  for (const Arrived& arrived : again.derivative.arrived) mine.push_back(arrived.gradient);
  for (const Arrived& arrived : first.arrived) theirs.push_back(arrived.gradient);
  Judgement judgement = judge_values(mine, theirs, {.promised = promised});
  if (judgement.finding)
    judgement.finding->likely =
        "gradients that are added up in the order in which threads arrive: atomics, a shared accumulator";
  return judgement;
}

}  // namespace opgate
