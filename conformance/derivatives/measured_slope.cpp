#include "derivatives/measured_slope.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/real.h>

#include <algorithm>
#include <cmath>

#include "call/observation.h"
#include "compare/float_format.h"
#include "compare/widen.h"
#include "derivatives/moved_inputs.h"

namespace opgate {
namespace {

// Kernels in Double may compute in Float, and nothing says so: no result is taken to be more precise.
constexpr int kMostPrecision = 24;

// The step that balances rounding and curvature, the cube root of the unit roundoff, as a power of 2 (Press
// et al., Numerical Recipes, 3rd ed., 5.7).
double step_for(double roundoff) { return std::exp2(std::round(std::log2(std::cbrt(roundoff)))); }

double roundoff_of(c10::ScalarType dtype) {
  return std::exp2(-std::min(float_format(dtype)->precision, kMostPrecision));
}

bool has_values(const at::Tensor& tensor) {
  return tensor.defined() && (tensor.is_floating_point() || tensor.is_complex());
}

// The real inner product: autograd's gradient of a complex tensor is the direction in which its real part
// grows fastest.
at::Tensor inner_terms(const at::Tensor& a, const at::Tensor& b) {
  return a.is_complex() || b.is_complex() ? at::real(a.conj() * b) : a * b;
}

struct Difference {
  double value = 0;     // of the weighted sums
  double rounding = 0;  // that this may be off by
  bool changed = false;
};

Difference difference(const Derivative& mine, const std::vector<at::Tensor>& from,
                      const std::vector<at::Tensor>& to) {
  Difference sum;
  for (size_t i = 0; i < to.size(); ++i) {
    if (!mine.differentiated_outputs.contains(i)) continue;
    const at::Tensor cotangent = widened(mine.cotangents[i]);
    const at::Tensor change = to[i] - from[i];
    const at::Tensor changed = change.ne(0);
    if (!changed.any().item<bool>()) continue;
    sum.changed = true;
    sum.value += inner_terms(cotangent, change).sum().item<double>();
    // An element that is the same to the bit has the same rounding on both sides.
    const at::Tensor magnitude = (to[i].abs() + from[i].abs()) * cotangent.abs() * changed;
    sum.rounding += magnitude.sum().item<double>() * roundoff_of(mine.cotangents[i].scalar_type());
  }
  return sum;
}

}  // namespace

SlopeMeter::SlopeMeter(const CallKey& key, ValueCache& values, const DerivativeRequest& request,
                       const Derivative& mine)
    : key_(key), values_(values), request_(request), mine_(mine) {
  const auto first = results_at("", {});
  const auto second = results_at("", {});
  repeats_ =
      first && second && std::ranges::equal(*first, *second, [](const at::Tensor& a, const at::Tensor& b) {
        return a.defined() == b.defined() && (!a.defined() || at::equal(a, b));
      });
  if (repeats_) unmoved_ = *first;
}

at::Tensor SlopeMeter::values_of(const std::string& input) const {
  Arguments arguments = materialize(key_, values_, {.take_snapshots = false});
  if (request_.moved != 0) move_inputs(key_, request_.moved, arguments);
  return widened(arguments.find(input)->tensor);
}

std::optional<MeasuredSlope> SlopeMeter::along(const std::string& input, const at::Tensor& direction) {
  const at::Tensor values = values_of(input);
  const Arguments arguments = materialize(key_, values_, {.take_snapshots = false});
  const c10::ScalarType dtype = arguments.find(input)->tensor.scalar_type();
  const double step = step_for(roundoff_of(dtype));

  struct Side {
    std::vector<at::Tensor> results;
    double moved = 0;
  };
  // The step as it is after rounding to the input's dtype, along the direction.
  const double length = inner_terms(direction, direction).sum().item<double>();
  if (!(length > 0)) return std::nullopt;
  const auto side = [&](double by) -> std::optional<Side> {
    const at::Tensor there = values + direction * by;
    auto results = results_at(input, there);
    if (!results) return std::nullopt;
    const at::Tensor rounded = widened(there.to(dtype));
    return Side{std::move(*results), inner_terms(direction, rounded - values).sum().item<double>() / length};
  };
  const auto up = side(step), down = side(-step), half_up = side(step / 2), half_down = side(-step / 2);
  if (!up || !down || !half_up || !half_down) return std::nullopt;

  MeasuredSlope measured;
  const auto slope = [&](const std::vector<at::Tensor>& from, const std::vector<at::Tensor>& to,
                         double distance) {
    Difference found = difference(mine_, from, to);
    measured.constant = measured.constant && !found.changed;
    found.value /= distance;
    found.rounding /= std::abs(distance);
    return found;
  };
  measured.constant = true;
  const Difference whole = slope(down->results, up->results, up->moved - down->moved);
  const Difference half = slope(half_down->results, half_up->results, half_up->moved - half_down->moved);
  const Difference forward = slope(unmoved_, half_up->results, half_up->moved);
  const Difference backward = slope(half_down->results, unmoved_, -half_down->moved);
  measured.slope = half.value;
  measured.uncertainty = 4 * (half.rounding + whole.rounding) + 4 * std::abs(whole.value - half.value) +
                         2 * std::abs(forward.value - backward.value);
  return std::isfinite(measured.slope) && std::isfinite(measured.uncertainty) ? std::optional(measured)
                                                                              : std::nullopt;
}

std::optional<std::vector<at::Tensor>> SlopeMeter::results_at(const std::string& input,
                                                              const at::Tensor& values) {
  Arguments arguments = materialize(key_, values_, {.take_snapshots = false});
  if (request_.moved != 0) move_inputs(key_, request_.moved, arguments);
  if (!input.empty()) {
    const TensorInput& moved = *arguments.find(input);
    arguments.replace(moved, values.to(moved.tensor.scalar_type()));
  }
  const Outcome call = call_on(key_, arguments.stack);
  if (!call.ok()) return std::nullopt;
  std::vector<at::Tensor> results;
  for (const at::Tensor& result : call.values()) {
    const at::Tensor wide = has_values(result) ? widened(result.detach()) : at::Tensor();
    if (wide.defined() && !wide.isfinite().all().item<bool>()) return std::nullopt;
    results.push_back(wide);
  }
  // The sizes of results may depend on values, and then there is nothing to compare.
  const bool same_sizes =
      unmoved_.empty() || std::ranges::equal(unmoved_, results, [](const at::Tensor& a, const at::Tensor& b) {
        return a.defined() == b.defined() && (!a.defined() || a.sizes() == b.sizes());
      });
  return same_sizes ? std::optional(std::move(results)) : std::nullopt;
}

}  // namespace opgate
