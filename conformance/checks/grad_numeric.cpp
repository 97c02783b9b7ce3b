// grad.numeric: gradients in Double equal central differences of the operator itself.
#include <ATen/TensorOperators.h>
#include <fmt/format.h>

#include <cmath>

#include "checks/check.h"
#include "checks/gradients.h"
#include "checks/outputs.h"
#include "values/counter.h"
#include "values/domain.h"

namespace opgate::grad_numeric {
namespace {

constexpr auto kPromised = "the gradients are the slopes of the operator itself";
// A step of 1e-5 makes an error of about 1e-10 of the third derivative, and one of 1e-11 of the values.
constexpr double kStep = 1e-5;
constexpr double kOfGradient = 1e-6;  ///< of the sum of the magnitudes that are added up to the slope
constexpr double kOfValues = 1e-8;    ///< of those that are added up to the value

double number(const at::Tensor& scalar) { return scalar.item<double>(); }

/// The outputs weighted by the incoming gradients, as one number, and the sum of the magnitudes.
struct Weighted {
  double value = 0, magnitude = 0;
};

// Throws c10::Error where the operator refuses the moved input.
Weighted weighted(Evidence& evidence, const Derivative& mine, const std::string& input, double step,
                  const at::Tensor& direction) {
  Arguments arguments = materialise(evidence.key(), evidence.bench().values, {.photographed = false});
  const TensorInput& moved = *arguments.find(input);
  arguments.replace(moved, moved.tensor + direction * step);
  const Outcome call = call_on(evidence.key(), arguments.stack);
  TORCH_CHECK(call.ok(), call.raised->message);
  Weighted sum;
  const std::vector<at::Tensor> values = call.values();
  for (size_t i = 0; i < values.size(); ++i) {
    if (!mine.incoming[i].defined()) continue;
    const at::Tensor terms = values[i].detach() * mine.incoming[i];
    sum.value += number(terms.sum());
    sum.magnitude += number(terms.abs().sum());
  }
  return sum;
}

// Passes where the slope along a random direction is the gradient's; none where the operator is not smooth
// there, so that two steps give two slopes.
std::optional<Judgement> judge_along(Evidence& evidence, const Derivative& mine, const Arrived& arrived,
                                     int attempt) {
  const at::Tensor& gradient = arrived.gradient;
  const at::Tensor direction =
      make_values({"uniform", {}}, stream_key(fmt::format("direction {} of {}", attempt, arrived.at)),
                  gradient.sizes(), gradient.scalar_type())
          .to(gradient.device());
  const auto slope = [&](double step) {
    const Weighted up = weighted(evidence, mine, arrived.at, step, direction);
    const Weighted down = weighted(evidence, mine, arrived.at, -step, direction);
    return std::pair((up.value - down.value) / (2 * step), std::max(up.magnitude, down.magnitude));
  };
  const auto [numeric, magnitude] = slope(kStep);
  const auto [half, ignored] = slope(kStep / 2);
  const at::Tensor terms = gradient * direction;
  const double analytic = number(terms.sum());
  const double bound = kOfGradient * number(terms.abs().sum()) + kOfValues * magnitude;
  if (std::abs(analytic - numeric) <= bound) return Judgement::pass();
  if (!(std::abs(numeric - half) <= bound + 1e-3 * std::abs(numeric))) return std::nullopt;
  return Judgement::fail(
      {kPromised,
       fmt::format(
           "along a random direction of `{}` the gradient's slope is {:.8g}, and the operator's {:.8g}",
           arrived.at, analytic, numeric),
       analytic == 0 ? "no gradient arrives: is this input detached, or its gradient not computed?" : "",
       {}});
}

Judgement judge(Evidence& evidence) {
  if (auto refused = refused_sample(evidence)) return *std::move(refused);
  const Differentiated mine = differentiated(evidence, {}, kPromised);
  if (mine.none) return *mine.none;
  for (const Arrived& arrived : mine.derivative.arrived) {
    std::optional<Judgement> judgement;
    for (int attempt = 0; attempt < 3 && !judgement; ++attempt) {
      try {
        judgement = judge_along(evidence, mine.derivative, arrived, attempt);
      } catch (const c10::Error& error) {
        // A number that stands for an index, or a size, and has no gradient: it cannot be moved a little.
        if (!arrived.gradient.any().item<bool>()) {
          judgement = Judgement::pass();
          break;
        }
        return Judgement::invalid(fmt::format("{}: the operator refuses `{}` moved by {}: {}",
                                              evidence.key().sample->where, arrived.at, kStep,
                                              error.what_without_backtrace()));
      }
    }
    if (!judgement) {
      return Judgement::invalid(fmt::format(
          "{}: the operator has no slope along `{}` that two steps agree on; promise a derivative only "
          "where it has one, or choose other values",
          evidence.key().sample->where, arrived.at));
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
          .why = "It needs no reference, and so finds what a reference shares with the operator: a gradient "
                 "that belongs to another function than the one that is computed.",
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
