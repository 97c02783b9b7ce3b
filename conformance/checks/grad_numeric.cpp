// grad.numeric: gradients in Double equal central differences of the operator itself.
#include <ATen/TensorOperators.h>
#include <ATen/ops/real.h>
#include <fmt/format.h>

#include <cmath>

#include "judging/check.h"
#include "judging/gradient_judgement.h"
#include "judging/output_judgement.h"
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

// The terms of the real inner product. Autograd's gradient of a complex tensor is the direction in which the real
// part of the inner product with the cotangent grows fastest.
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
  for (size_t i = 0; i < values.size(); ++i) {
    if (!mine.cotangents[i].defined()) continue;
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
  const auto slope = [&](double step) {
    const Weighted up = weighted(under_test, mine, arrived.at, step, direction);
    const Weighted down = weighted(under_test, mine, arrived.at, -step, direction);
    return std::pair((up.value - down.value) / (2 * step), std::max(up.magnitude, down.magnitude));
  };
  const auto [numeric, magnitude] = slope(kStep);
  const auto [half, ignored] = slope(kStep / 2);
  const at::Tensor terms = inner_terms(gradient, direction);
  const double analytic = number(terms.sum());
  const double bound = kOfGradient * number(terms.abs().sum()) + kOfValues * magnitude;
  if (std::abs(analytic - numeric) <= bound) return Judgement::pass();
  if (!(std::abs(numeric - half) <= bound + 1e-3 * std::abs(numeric))) return std::nullopt;
  return Judgement::fail(
      {kPromised,
       fmt::format(
           "along a random direction of `{}` the gradient's slope is {:.8g}, and the operator's {:.8g}",
           arrived.at, analytic, numeric),
       analytic == 0 ? "no gradient arrives: this input is detached, or its gradient is not computed" : "",
       {}});
}

Judgement judge(CallUnderTest& under_test) {
  if (auto refused = refused_sample(under_test)) return *std::move(refused);
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
            fmt::format("{}: the operator refuses `{}` moved by {}, so choose values "
                        "that can be moved: {}",
                        under_test.key().sample->where, arrived.at, kStep, error.what_without_backtrace()));
      }
    }
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

OPGATE_REGISTER_CHECK(
    grad_numeric,
    {.name = "grad.numeric",
     .explanation =
         {.promise = "In Double, the gradients are the slopes of the operator itself, by central differences "
                     "along a random direction for each input.",
          .why = "This check needs no reference, and so it also finds a mistake that the reference shares: a "
                 "gradient of another function than the one that is computed.",
          .fix = "Compare the formula of the derivative with the code of the forward, branch by branch.",
          .example = "A clamp in the forward that the backward does not know of."},
     .worker = Worker::native,
     .scope = {.variants = Scope::Variants::contiguous,
               .dtypes = Scope::Dtypes::doubles,
               .promised = Promise::differentiable,
               .derivatives = true},
     .judge = &judge});

}  // namespace
}  // namespace opgate::grad_numeric
