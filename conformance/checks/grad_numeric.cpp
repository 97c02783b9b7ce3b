// grad.numeric: gradients equal central differences of the operator itself.
#include <ATen/TensorOperators.h>
#include <ATen/ops/real.h>
#include <ATen/ops/zeros_like.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "compare/float_format.h"
#include "compare/widen.h"
#include "derivatives/measured_slope.h"
#include "derivatives/moved_inputs.h"
#include "judging/causes/misused_cotangents.h"
#include "judging/check.h"
#include "judging/comparison/gradient_judgement.h"
#include "judging/comparison/output_judgement.h"
#include "judging/fault.h"
#include "spec/spec.h"
#include "values/counter.h"
#include "values/domain.h"

namespace opgate::grad_numeric {
namespace {

constexpr auto kPromised = "the gradients are the slopes of the operator itself";
// With a step of 1e-5, a central difference is off by about 1e-10 times the third derivative, and by 1e-11
// times the values, which are rounded.
constexpr double kStep = 1e-5;
constexpr double kOfGradient = 1e-6;  ///< allowed, relative to the sum of the magnitudes of the slope's terms
constexpr double kOfValues = 1e-8;    ///< allowed, relative to the sum of the magnitudes of the value's terms

double number(const at::Tensor& scalar) { return scalar.item<double>(); }

// The terms of the real inner product. Autograd's gradient of a complex tensor is the direction in which the
// real part of the inner product with the cotangent grows fastest.
at::Tensor inner_terms(const at::Tensor& a, const at::Tensor& b) {
  return a.is_complex() || b.is_complex() ? at::real(a.conj() * b) : a * b;
}

/// The sum of the outputs, weighted by the cotangents (incoming gradients), and of the magnitudes of its
/// terms.
struct Weighted {
  double value = 0, magnitude = 0;
};

// Throws c10::Error where the operator refuses the moved input.
Weighted weighted(CallUnderTest& under_test, const Derivative& mine, const std::string& input, double step,
                  const at::Tensor& direction) {
  Arguments arguments = materialize(under_test.key(), under_test.cache().values, {.take_snapshots = false});
  const TensorInput& moved = *arguments.find(input);
  arguments.replace(moved, moved.tensor + direction * step);
  const Outcome call = call_on(under_test.key(), arguments.stack);
  TORCH_CHECK(call.ok(), call.raised->message);
  Weighted sum;
  const std::vector<at::Tensor> values = call.values();
  const size_t returned = call.returned().size();
  const std::set<size_t> unspecified = call.tensors_of(under_test.key().spec->unspecified);
  for (size_t i = 0; i < values.size(); ++i) {
    if (!mine.cotangents[i].defined()) continue;
    // Gradients need not flow into a buffer that is written beside the results, nor from a result without
    // promised values.
    const bool may_be_detached = i >= returned || unspecified.contains(i);
    if (may_be_detached && !mine.differentiated_outputs.contains(i)) continue;
    const at::Tensor terms = inner_terms(mine.cotangents[i], values[i].detach());
    sum.value += number(terms.sum());
    sum.magnitude += number(terms.abs().sum());
  }
  return sum;
}

// Passes where the slope along a random direction is the one that the gradient predicts. Returns none where
// the operator is not smooth there, so that two step sizes give two slopes.
std::optional<Judgement> judge_along(CallUnderTest& under_test, const Derivative& mine,
                                     const LeafGradient& arrived, int attempt) {
  const at::Tensor& gradient = arrived.gradient;
  const at::Tensor direction =
      make_values({"uniform", {}}, stream_key(fmt::format("direction {} of {}", attempt, arrived.at)),
                  gradient.sizes(), gradient.scalar_type())
          .to(gradient.device());
  const auto slope = [&](const Derivative& weights, double step) {
    const Weighted up = weighted(under_test, weights, arrived.at, step, direction);
    const Weighted down = weighted(under_test, weights, arrived.at, -step, direction);
    return std::pair((up.value - down.value) / (2 * step), std::max(up.magnitude, down.magnitude));
  };
  const auto [numeric, magnitude] = slope(mine, kStep);
  const double half = slope(mine, kStep / 2).first;
  const at::Tensor terms = inner_terms(gradient, direction);
  const double analytic = number(terms.sum());
  const double bound = kOfGradient * number(terms.abs().sum()) + kOfValues * magnitude;
  if (std::abs(analytic - numeric) <= bound) return Judgement::pass();
  if (!(std::abs(numeric - half) <= bound + 1e-3 * std::abs(numeric))) return std::nullopt;
  std::string likely =
      ignored_cotangents(under_test, {}, mine, arrived.at, [&, numeric = numeric](const Derivative& other) {
        return std::abs(slope(other, kStep).first - numeric) > bound;
      });
  if (likely.empty()) {
    likely = cotangents_taken_for_alike(under_test, {}, mine, arrived.at, [&](const Derivative& other) {
      const at::Tensor theirs = gradient_at(other, arrived.at);
      return std::abs(slope(other, kStep).first - number(inner_terms(theirs, direction).sum())) <= bound;
    });
  }
  if (likely.empty() && analytic == 0)
    likely = "no gradient arrives: this input is detached, or its gradient is not computed";
  return Judgement::fail(
      {kPromised,
       fmt::format(
           "along a random direction of `{}` the gradient's slope is {:.8g}, and the operator's {:.8g}",
           arrived.at, analytic, numeric),
       std::move(likely),
       {fault::kGradient, arrived.at}});
}

// Whether the spec writes infinities or NaNs into its sample, such as those of a mask.
bool gives_no_numbers(const CallKey& key) {
  return std::ranges::any_of(tensor_slots(*key.spec, *key.sample), [](const TensorSlot& slot) {
    return std::ranges::any_of(slot.described->domain.parameters,
                               [](double number) { return !std::isfinite(number); });
  });
}

// For an operator that promises Double, whose spec has values for it.
Judgement judge_closely(CallUnderTest& under_test) {
  const Differentiated mine = differentiated(under_test, {}, kPromised);
  if (mine.none) return *mine.none;
  for (const LeafGradient& arrived : mine.derivative.leaf_gradients) {
    std::optional<Judgement> judgement;
    for (int attempt = 0; attempt < 3 && !judgement; ++attempt) {
      try {
        judgement = judge_along(under_test, mine.derivative, arrived, attempt);
      } catch (const c10::Error& error) {
        // A floating number that stands for an index or a size has no gradient and cannot be moved a
        // little.
        if (!arrived.gradient.any().item<bool>()) {
          judgement = Judgement::pass();
          break;
        }
        return Judgement::invalid(
            fmt::format("{}: the operator refuses `{}` moved by {}, so choose values that can be moved: {}",
                        under_test.key().sample->where, arrived.at, kStep, error.what_without_backtrace()));
      }
    }
    if (!judgement && gives_no_numbers(under_test.key()))
      return Judgement::note("not judged: there is no slope at the infinite values or NaNs of the sample");
    if (!judgement) {
      return Judgement::invalid(fmt::format(
          "{}: the operator has no slope along `{}` that two step sizes agree on; promise a derivative only "
          "where it has one, or choose other values",
          under_test.key().sample->where, arrived.at));
    }
    if (judgement->finding) return *judgement;
  }
  return Judgement::pass();
}

// A gradient may be off by this share of its terms before it is called wrong, where nobody chose the values
// for it. The mistakes that this check is for, such as a forgotten factor, are larger. Less precise dtypes
// have more.
double margin_of(c10::ScalarType dtype) {
  constexpr double kOfFloat = 0.02;
  const int bits_fewer = std::max(0, 24 - float_format(dtype)->precision);
  return kOfFloat * std::exp2(bits_fewer / 4.0);
}

struct Disagreement {
  double gradient;
  MeasuredSlope measured;
  int64_t element;
  at::Tensor direction;
};

// The elements that move, one at a time: that of the largest gradient, that of the largest value, the last,
// and others.
std::vector<int64_t> chosen_elements(const at::Tensor& gradient, const at::Tensor& values) {
  constexpr int kOthers = 4;
  const int64_t count = gradient.numel();
  std::vector<int64_t> elements{gradient.abs().flatten().argmax().item<int64_t>(),
                                values.abs().flatten().argmax().item<int64_t>(), count - 1};
  for (int i = 0; i < kOthers; ++i) {
    const uint64_t random = stream_key(fmt::format("element {}", i));
    elements.push_back(static_cast<int64_t>(random % static_cast<uint64_t>(count)));
  }
  return elements;
}

// The first disagreement between the gradient that arrived at an input and the slope that is measured; none
// if they agree, or where the slope is too uncertain to tell.
std::optional<Disagreement> disagreement(SlopeMeter& meter, const LeafGradient& arrived) {
  const at::Tensor gradient = widened(arrived.gradient);
  const at::Tensor values = meter.values_of(arrived.at);
  const double margin = margin_of(arrived.gradient.scalar_type());
  for (const int64_t element : chosen_elements(gradient, values)) {
    at::Tensor direction = at::zeros_like(values);
    direction.view(-1)[element] =
        std::max(number(values.abs().flatten()[element]), typical_magnitude(values));
    if (is_hermitian(values)) direction = direction + direction.mH();
    const std::optional<MeasuredSlope> measured = meter.along(arrived.at, direction);
    // Where nothing changes, a gradient may stand for another function on purpose: a straight-through
    // estimator.
    if (!measured || measured->constant) continue;
    const double analytic = number(inner_terms(gradient, direction).sum());
    const double size = std::max(std::abs(analytic), std::abs(measured->slope));
    if (std::abs(analytic - measured->slope) <= margin * size + measured->uncertainty) continue;
    return Disagreement{analytic, *measured, element, direction};
  }
  return std::nullopt;
}

// Why the gradient at the input disagrees with the slope, as the derivative of `request` shows it.
std::string likely_reason(CallUnderTest& under_test, const DerivativeRequest& request,
                          const std::string& input, const Disagreement& found) {
  const CallKey& key = under_test.key();
  ValueCache& values = under_test.cache().values;
  const auto slope_differs = [&](const Derivative& other) {
    const auto measured = SlopeMeter(key, values, request, other).along(input, found.direction);
    return measured && std::abs(measured->slope - found.measured.slope) >
                           measured->uncertainty + found.measured.uncertainty;
  };
  const auto is_right = [&](const Derivative& other) {
    SlopeMeter meter(key, values, request, other);
    return meter.repeats() && !disagreement(meter, {input, gradient_at(other, input)});
  };
  const Derivative mine = derivative(key, values, request);
  if (std::string ignored = ignored_cotangents(under_test, request, mine, input, slope_differs);
      !ignored.empty())
    return ignored;
  if (std::string alike = cotangents_taken_for_alike(under_test, request, mine, input, is_right);
      !alike.empty())
    return alike;
  return found.gradient == 0
             ? "no gradient arrives: this input is detached, or its gradient is not computed"
             : "the backward computes the derivative of another function: a factor or a term is missing";
}

// For an operator without a dtype in which rounding does not matter, or of which nobody has chosen the
// values: a draft.
Judgement judge_with_margin(CallUnderTest& under_test) {
  constexpr int kAttempts = 2;  // a disagreement is reported where it is seen at several places
  const CallKey& key = under_test.key();
  std::map<std::string, std::vector<std::pair<DerivativeRequest, Disagreement>>> disagreements;
  for (int seed = 1; seed <= kAttempts; ++seed) {
    DerivativeRequest request;
    request.moved = seed;
    Derivative moved = derivative(key, under_test.cache().values, request);
    if (!moved.ok()) {  // the operator refuses moved values, so its own must do
      request.moved = 0;
      const Differentiated mine = differentiated(under_test, request, kPromised);
      if (mine.none) return *mine.none;
      moved = mine.derivative;
    }
    SlopeMeter meter(key, under_test.cache().values, request, moved);
    if (!meter.repeats())
      return Judgement::note("not judged: the results differ from call to call, or are not finite");
    for (const LeafGradient& arrived : moved.leaf_gradients) {
      if (arrived.gradient.numel() == 0) continue;
      if (auto found = disagreement(meter, arrived)) disagreements[arrived.at].emplace_back(request, *found);
    }
  }
  for (const auto& [input, found] : disagreements) {
    if (found.size() < kAttempts) continue;
    const auto& [request, first] = found.front();
    return Judgement::fail(
        {kPromised,
         fmt::format(
             "where element {} of `{}` moves, the gradient's slope is {:.4g}, and the operator's {:.4g}",
             first.element, input, first.gradient, first.measured.slope),
         likely_reason(under_test, request, input, first),
         {fault::kGradient, input}});
  }
  return Judgement::pass();
}

Judgement judge(CallUnderTest& under_test) {
  if (auto refused = refused_sample(under_test)) return *std::move(refused);
  const bool is_double =
      std::ranges::all_of(under_test.observed().arguments.tensors, [](const TensorInput& input) {
        return !input.tensor.is_floating_point() || input.tensor.scalar_type() == c10::kDouble;
      });
  return is_double && !under_test.key().spec->draft ? judge_closely(under_test)
                                                    : judge_with_margin(under_test);
}

OPGATE_REGISTER_CHECK(grad_numeric, {.name = "grad.numeric",
                                     .scope = {.variants = Scope::Variants::contiguous,
                                               .dtypes = Scope::Dtypes::most_precise,
                                               .promised = Promise::differentiable,
                                               .derivatives = true},
                                     .judge = &judge});

}  // namespace
}  // namespace opgate::grad_numeric
