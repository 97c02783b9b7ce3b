#include "judging/comparison/half_precision.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/dtypes.h"
#include "compare/agreement.h"
#include "compare/float_format.h"
#include "judging/calls/converted_call.h"

namespace opgate {
namespace {

constexpr size_t kRounds = 3;
constexpr double kShareOfLargest = 0.25, kTimesMovement = 4;
// One in this many elements that are not 0 must change with the values: a step, or the spacing of numbers, is
// a matter of the dtype.
constexpr int64_t kMovingShare = 4;
// How far values are moved from round to round, in ulps of the dtype.
constexpr double kMovedUlps = 8;

// Moves each element by a random part of kMovedUlps, and rounds to the tensor's dtype. The first round keeps
// the values.
at::Tensor moved(const at::Tensor& values, size_t round) {
  if (round == 0) return values;
  const at::Generator generator = at::make_generator<at::CPUGeneratorImpl>(round);
  const at::Tensor by = at::rand(values.sizes(), generator, at::TensorOptions(at::kFloat)).mul(2).sub(1);
  const double unit = std::ldexp(1.0, -float_format(values.scalar_type())->precision);
  const at::Tensor factor = by.mul(kMovedUlps * unit).add(1).to(values.device());
  return values.to(at::kFloat).mul(factor).to(values.scalar_type());
}

// The results of one round: in the call's dtype, and in float32.
struct Round {
  std::vector<at::Tensor> half, single;
};

std::optional<Round> make_round(CallUnderTest& under_test, size_t number) {
  const c10::ScalarType dtype = under_test.key().dtype;
  const auto half =
      converted_call(under_test, dtype, [&](const at::Tensor& values) { return moved(values, number); });
  const auto single = converted_call(
      under_test, dtype, [&](const at::Tensor& values) { return moved(values, number).to(at::kFloat); });
  if (!half || !single) return std::nullopt;
  return Round{half->outcome.values(), single->outcome.values()};
}

// Whether result `i` is one of floating numbers, with the same sizes in all rounds.
bool is_compared(const std::vector<Round>& rounds, size_t i) {
  return std::ranges::all_of(rounds, [&](const Round& round) {
    const at::Tensor &half = round.half[i], &single = round.single[i];
    return half.defined() && single.defined() && half.is_floating_point() && single.is_floating_point() &&
           half.numel() > 0 && half.sizes() == single.sizes() && half.sizes() == rounds[0].half[i].sizes();
  });
}

// Where the result is far off in this round. `movement` is what float32's elements move by from round to
// round.
at::Tensor far_off(const at::Tensor& half, const at::Tensor& single, double movement) {
  const at::Tensor got = half.cpu().to(at::kDouble);
  const at::Tensor want = single.cpu().to(half.scalar_type()).to(at::kDouble);  // overflows as `half` would
  const at::Tensor finite = got.isfinite().logical_and(want.isfinite());
  const double largest = at::where(finite, want, 0).abs().max().item<double>();
  const double margin = std::max(kShareOfLargest * largest, kTimesMovement * movement);
  return got.sub(want).abs().gt(margin).logical_and(finite);
}

// Whether some element is far off in the last round.
bool any_far_off(const std::vector<Round>& rounds) {
  const auto& [half, single] = rounds.back();
  for (size_t i = 0; i < half.size(); ++i) {
    if (is_compared(rounds, i) && far_off(half[i], single[i], 0).any().item<bool>()) return true;
  }
  return false;
}

// The elements of result `i` that are far off in every round, and change in float32 from each round to the
// next.
at::Tensor always_far_off(const std::vector<Round>& rounds, size_t i) {
  at::Tensor changes = at::ones_like(rounds[0].single[i].cpu(), at::kBool);
  double movement = 0;
  for (size_t round = 1; round < rounds.size(); ++round) {
    const at::Tensor here = rounds[round].single[i].cpu().to(at::kDouble);
    const at::Tensor before = rounds[round - 1].single[i].cpu().to(at::kDouble);
    const at::Tensor by = here.sub(before).abs();
    changes = changes.logical_and(by.gt(0));
    movement = std::max(movement, at::where(by.isfinite(), by, 0).max().item<double>());
  }
  const auto moving = changes.sum().item<int64_t>(), others = rounds[0].single[i].ne(0).sum().item<int64_t>();
  if (moving * kMovingShare < others) return at::zeros_like(changes);
  for (const Round& round : rounds)
    changes = changes.logical_and(far_off(round.half[i], round.single[i], movement));
  return changes;
}

}  // namespace

Judgement judge_half_precision(CallUnderTest& under_test) {
  const Observation& seen = under_test.observed();
  const c10::ScalarType dtype = under_test.key().dtype;
  if (under_test.promised(Promise::nondeterministic_seeded) || seen.drew_random_numbers)
    return Judgement::pass();
  std::vector<Round> rounds;
  for (size_t number = 0; number < kRounds; ++number) {
    auto round = make_round(under_test, number);
    if (!round || round->half.size() != round->single.size()) return Judgement::pass();
    rounds.push_back(*std::move(round));
    if (rounds.back().half.size() != rounds[0].half.size()) return Judgement::pass();
    if (!any_far_off(rounds)) return Judgement::pass();  // as most are in the first round
  }
  for (size_t i = 0; i < rounds[0].half.size(); ++i) {
    if (!is_compared(rounds, i)) continue;
    const at::Tensor wrong = always_far_off(rounds, i);
    const int64_t count = wrong.sum().item<int64_t>();
    if (count == 0) continue;
    const int64_t first = wrong.flatten().nonzero()[0].item<int64_t>();
    const auto element = [&](const at::Tensor& tensor) {
      return tensor.cpu().flatten()[first].item<double>();
    };
    return Judgement::fail(
        {fmt::format("the result in {} is that in float32 of the same values, as far as rounding allows",
                     dtype_name(dtype)),
         fmt::format("{}: {} of {} elements are far off, the first is {:.6g} in {} and {:.6g} in float32",
                     output_name(i, rounds[0].half.size()), count, wrong.numel(), element(rounds[0].half[i]),
                     dtype_name(dtype), element(rounds[0].single[i])),
         "a buffer in another dtype than that of the arguments is sized or indexed by theirs, or sums are "
         "kept in this dtype"});
  }
  return Judgement::pass();
}

}  // namespace opgate
