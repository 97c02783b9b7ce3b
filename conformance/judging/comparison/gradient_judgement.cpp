#include "judging/comparison/gradient_judgement.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/full_like.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "compare/comparison.h"
#include "compare/float_format.h"
#include "compare/widen.h"
#include "judging/comparison/memory_judgement.h"
#include "judging/comparison/output_judgement.h"
#include "judging/fault.h"
#include "spec/spec.h"

namespace opgate {
namespace {

// The tolerance of gradients where the spec names none, in ulps of the largest element: each element is a
// sum whose terms may cancel. The error of a wrong formula is far larger.
constexpr Accuracy kGradientAccuracy = ulps(64);

// The tolerance grows by so many times the change that the reference's gradient makes where inputs change
// by one ulp, which is the rounding that every input may have.
constexpr double kPerturbations = 8;
// The terms of a gradient are about as large as the cotangents (incoming gradients), and may cancel. The
// tolerance is so many ulps of the largest cotangent, and at least so much as a reference in Double cannot
// tell from 0.
constexpr double kCotangentUlps = 4;
constexpr double kNoise = 0x1p-36;

double largest(const at::Tensor& tensor) { return largest_magnitude(tensor).item<double>(); }

// A gradient is no more accurate than the cotangents: for a Half result, the gradient of a Double argument
// is only as accurate as Half.
at::Tensor rounded(const Derivative& derivative, const at::Tensor& gradient) {
  c10::ScalarType coarsest = gradient.scalar_type();
  for (const at::Tensor& cotangent : derivative.cotangents) {
    if (cotangent.defined() && c10::elementSize(cotangent.scalar_type()) < c10::elementSize(coarsest))
      coarsest = cotangent.scalar_type();
  }
  return gradient.is_complex() ? gradient : gradient.to(coarsest);
}

double largest_cotangent(const Derivative& derivative) {
  double size = 0;
  for (const auto* cotangents : {&derivative.cotangents, &derivative.second_cotangents}) {
    for (const at::Tensor& tensor : *cotangents)
      size = std::max(size, tensor.defined() ? largest(tensor) : 0);
  }
  return size;
}

const LeafGradient* find(const Derivative& derivative, const std::string& at) {
  const auto found = std::ranges::find(derivative.leaf_gradients, at, &LeafGradient::at);
  return found == derivative.leaf_gradients.end() ? nullptr : &*found;
}

// Where only some inputs have a tangent, results need not depend on these, and their tangents are zeros
// then.
bool may_be_independent(const DerivativeRequest& request) { return request.forward && request.inputs; }

Differentiated reference_differentiated(CallUnderTest& under_test, const DerivativeRequest& request,
                                        const Derivative& mine) {
  Differentiated made{reference_derivative(under_test.key(), under_test.cache().values, request, mine),
                      std::nullopt};
  const auto& raised = made.derivative.call ? made.derivative.call : made.derivative.backward;
  const bool independent = !raised && may_be_independent(request);
  if (!made.derivative.ok() && !independent) {
    made.none = Judgement::invalid(fmt::format(
        "{}: the reference of {} has no derivative to compare with{}; write it with operators that have one",
        under_test.key().spec->where, under_test.key().spec->name, raised ? ": " + raised->message : ""));
  }
  return made;
}

// The ulp at 1 that errors of a result or gradient of this dtype are measured in.
double ulp_of(c10::ScalarType dtype, const Accuracy& accuracy) {
  const double own = ulp_at(1, *float_format(dtype));
  return accuracy.dtype ? std::max(own, ulp_at(1, *float_format(*accuracy.dtype))) : own;
}

// A result may be wrong by the promised ulps of its scale; its gradient, by as many ulps of the gradient of
// the scale. None for a scale that has no derivative.
GradientTolerance cancellation(CallUnderTest& under_test, DerivativeRequest request, const Derivative& mine) {
  const CallKey& key = under_test.key();
  const Accuracy accuracy = key.spec->accuracy_for(key.dtype);
  GradientTolerance allowed;
  if (!accuracy.by_inputs) return allowed;
  request.of_scale = true;
  const Derivative scale = reference_derivative(key, under_test.cache().values, request, mine);
  if (!scale.ok()) return allowed;
  for (const LeafGradient& leaf : mine.leaf_gradients) {
    const LeafGradient* const terms = find(scale, leaf.at);
    if (terms == nullptr) continue;
    const double ulp = ulp_of(rounded(mine, leaf.gradient).scalar_type(), accuracy);
    allowed[leaf.at].cancellation = accuracy.ulps * ulp * largest(terms->gradient);
  }
  return allowed;
}

GradientTolerance tolerance_around(CallUnderTest& under_test, DerivativeRequest request,
                                   const Derivative& mine, const Derivative& reference) {
  GradientTolerance allowed = cancellation(under_test, request, mine);
  request.perturbed = true;
  const Differentiated perturbed = reference_differentiated(under_test, request, mine);
  if (perturbed.none) return allowed;
  for (const LeafGradient& moved : perturbed.derivative.leaf_gradients) {
    if (const LeafGradient* unmoved = find(reference, moved.at))
      allowed[moved.at].conditioning = kPerturbations * largest(moved.gradient - unmoved->gradient);
  }
  return allowed;
}

}  // namespace

namespace {

// Inputs of a recorded call required a gradient, perhaps for other operators; nobody has promised that this
// one has a derivative, and it has none. What replaces a kernel of torch must have torch's derivative.
bool was_never_promised(const Spec& spec, const Derivative& derivative) {
  if (spec.replaces_kernel() || !spec.guessed.contains(Promise::differentiable)) return false;
  if (spec.never_differentiated) return !derivative.ok();
  if (derivative.call)  // PyTorch's words for an argument that derivatives.yaml calls not differentiable
    return contains_ignoring_case(derivative.call->message, "is not differentiable with respect to argument");
  if (!derivative.backward) return !derivative.exists;
  const std::string& message = derivative.backward->message;
  return contains_ignoring_case(message, "no autograd formula was registered") ||
         contains_ignoring_case(message, "derivative for " + spec.name + " is not implemented");
}

}  // namespace

Differentiated differentiated(CallUnderTest& under_test, const DerivativeRequest& request,
                              const std::string& promised) {
  Differentiated made{derivative(under_test.key(), under_test.cache().values, request), std::nullopt};
  const auto fail = [&](std::string happened, std::string likely) {
    made.none = Judgement::fail({promised, std::move(happened), std::move(likely)});
  };
  const std::optional<Raised>& raised =
      made.derivative.call ? made.derivative.call : made.derivative.backward;
  if (was_never_promised(*under_test.key().spec, made.derivative) && raised) {
    made.none = Judgement::note(
        fmt::format("the derivative raises, and no recorded call has asked for it: {}", raised->message));
  } else if (was_never_promised(*under_test.key().spec, made.derivative)) {
    made.none = Judgement::note(
        "the operator has no derivative for these arguments; it has an autograd kernel, or inputs of the "
        "recorded calls required a gradient");
  } else if (made.derivative.call && !under_test.observed().outcome.ok()) {
    made.none = Judgement::pass();  // refused without gradients, too, which value.layout judges
  } else if (made.derivative.call) {
    fail(fmt::format("the call raised where an input {}: {}",
                     request.forward ? "has a tangent" : "requires grad", made.derivative.call->message),
         request.forward ? "its autograd function has no jvp"
                         : "the autograd kernel refuses what the kernel without gradients takes");
  } else if (made.derivative.backward) {
    fail("the derivative raised: " + made.derivative.backward->message, "");
  } else if (!made.derivative.exists && may_be_independent(request)) {
    return made;
  } else if (!made.derivative.exists && request.forward) {
    fail("no output has a tangent, though an input has",
         "the kernels compute below autograd, where tangents are lost; write the operator as a composite of "
         "differentiable ones, or give its autograd function a jvp");
  } else if (!made.derivative.exists) {
    fail(request.order == Order::first ? "no output requires grad, though an input does"
                                       : "no gradient requires grad, so it cannot be differentiated again",
         request.order == Order::first
             ? "no autograd kernel is registered, or it computes with grad mode off; see "
               "torch::autograd::Function and torch.library.register_autograd"
             : "the backward computes on data that autograd does not see; write it with differentiable "
               "operators, or give it a derivative of its own");
    if (request.order == Order::first) made.none->finding->fault.kind = fault::kNoDerivative;
  } else if (!made.derivative.damage.empty()) {
    made.none = Judgement::fail(describe_damage(made.derivative.damage.front(), {}));
  }
  return made;
}

double rounding_of(const at::Tensor& gradient) {
  return kGradientAccuracy.ulps * ulp_at(1, *float_format(gradient.scalar_type())) * largest(gradient);
}

namespace {

// Without a reference nothing says how large the terms are: an input that was broadcast gets a sum of
// incoming gradients, which each layout may add up in another order.
GradientTolerance rounding_of_sums(const Derivative& mine) {
  GradientTolerance tolerance;
  int64_t cotangents = 0;
  double ulp = 0;  // of the least precise: an input of Double may get sums that were made in Float
  for (const at::Tensor& cotangent : mine.cotangents) {
    if (!cotangent.defined()) continue;
    cotangents = std::max(cotangents, cotangent.numel());
    ulp = std::max(ulp, ulp_at(1, *float_format(cotangent.scalar_type())));
  }
  const double rounding = largest_cotangent(mine) * ulp;
  for (const LeafGradient& leaf : mine.leaf_gradients) {
    const int64_t terms = cotangents / std::max<int64_t>(leaf.gradient.numel(), 1);
    if (terms > 1) tolerance[leaf.at].conditioning = static_cast<double>(terms) * rounding;
  }
  return tolerance;
}

}  // namespace

GradientTolerance gradient_tolerance(CallUnderTest& under_test, const Derivative& mine) {
  if (under_test.key().spec->reference == nullptr) return rounding_of_sums(mine);
  const Differentiated reference = reference_differentiated(under_test, {}, mine);
  return reference.none ? GradientTolerance() : tolerance_around(under_test, {}, mine, reference.derivative);
}

Judgement judge_gradients(const Derivative& got, const Derivative& want, const Spec& spec,
                          const GradientTolerance& tolerance, const std::string& promised,
                          const std::string& when) {
  const Accuracy accuracy = spec.gradient_accuracy.value_or(kGradientAccuracy).scaled_by_inputs();
  const double cotangent_size = largest_cotangent(got);
  double worst = 0;
  for (const auto& [at, exact_gradient] : got.leaf_gradients) {
    const LeafGradient* expected = find(want, at);
    if (expected == nullptr)
      return Judgement::invalid(fmt::format("{}: the reference has no gradient at {}", spec.where, at));
    const at::Tensor gradient = rounded(got, exact_gradient);
    const auto found = tolerance.find(at);
    const GradientAllowance beyond = found == tolerance.end() ? GradientAllowance() : found->second;
    const double ulp = ulp_at(1, *float_format(gradient.scalar_type()));
    const double allowed = cotangent_size * std::max(kCotangentUlps * ulp, kNoise) + beyond.conditioning;
    const auto compare_with = [&](double allowance) {
      const double scale = largest(expected->gradient) + allowance / (std::max(accuracy.ulps, 1.0) * ulp);
      const at::Tensor scales = at::full_like(expected->gradient, scale, at::kDouble);
      return compare(gradient, expected->gradient, accuracy, scales);
    };
    Comparison comparison = compare_with(allowed);
    if (!comparison.within() && beyond.cancellation > 0)
      comparison = compare_with(allowed + beyond.cancellation);
    worst = std::max(worst, comparison.worst_ulps);
    if (comparison.within()) continue;
    return Judgement::fail(
        {promised,
         fmt::format("{}{}{}: {}", when, when.empty() ? "" : ", ",
                     got.forward ? "the tangent of " + at : fmt::format("the gradient at `{}`", at),
                     difference_text(comparison, gradient, expected->gradient)),
         "",
         {"", at, "values"},
         neighbourhood(comparison, gradient, expected->gradient)});
  }
  return Judgement::pass(worst);
}

Judgement judge_reference_gradients(CallUnderTest& under_test, const DerivativeRequest& request,
                                    const Derivative& mine, const std::string& promised,
                                    const std::string& when) {
  const Differentiated reference = reference_differentiated(under_test, request, mine);
  if (reference.none) return *reference.none;
  return judge_gradients(mine, reference.derivative, *under_test.key().spec,
                         tolerance_around(under_test, request, mine, reference.derivative), promised, when);
}

bool explain_by_written_cotangent(const Derivative& derivative, Finding& finding) {
  if (derivative.written_cotangents.empty()) return false;
  finding.fault.kind = fault::kWrittenCotangent;
  finding.fault.about = fmt::format("output {}", *derivative.written_cotangents.begin());
  finding.likely = fmt::format(
      "the backward writes the incoming gradient of {}, which other nodes and the caller read, too; compute "
      "into a tensor of its own",
      finding.fault.about);
  return true;
}

Judgement judge_repeated_gradients(CallUnderTest& under_test, const Derivative& first) {
  const std::string promised = "every gradient has the same bits on every call";
  const Differentiated again = differentiated(under_test, {}, promised);
  if (again.none) return *again.none;
  std::vector<at::Tensor> mine, theirs;
  for (const LeafGradient& leaf : again.derivative.leaf_gradients) mine.push_back(leaf.gradient);
  for (const LeafGradient& leaf : first.leaf_gradients) theirs.push_back(leaf.gradient);
  Judgement judgement = judge_values(mine, theirs, {}, promised);
  if (judgement.finding)
    judgement.finding->likely =
        "gradients are added up in the order in which threads arrive (atomics, a shared accumulator)";
  return judgement;
}

}  // namespace opgate
