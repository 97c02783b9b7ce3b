// value.special: NaN, infinities and -0 in one element of an argument give what the reference gives.
#include <fmt/format.h>

#include <memory>

#include "inputs/bad_inputs.h"
#include "inputs/tensor_slots.h"
#include "inputs/variant.h"
#include "judging/check.h"
#include "judging/comparison/output_judgement.h"
#include "judging/comparison/perturbed_reference.h"
#include "judging/fault.h"
#include "spec/spec.h"

namespace opgate::value_special {
namespace {

constexpr int64_t kMostElements = 256;  // of a tensor in which each element becomes NaN once

// The damaged inputs: the usual ones, and for the first sample a NaN at each element of small tensors,
// because the lanes of an unrolled loop, its tail and each level of a reduction are code of their own.
std::vector<InputDamage> special_inputs(const CallKey& key) {
  std::vector<InputDamage> inputs;
  for (const BadInput& bad : bad_inputs(*key.spec, *key.sample)) {
    if (bad.kind != BadInput::Kind::special) continue;
    if (bad.accepts_dtype != nullptr && !bad.accepts_dtype(key.dtype)) continue;
    inputs.push_back(bad.damage);
    const bool is_nan = bad.damage.value == "nan" && bad.damage.place == InputDamage::Place::middle;
    if (!is_nan || key.sample != &key.spec->samples.front()) continue;
    for (const TensorSlot& slot : tensor_slots(*key.spec, *key.sample)) {
      const int64_t elements = c10::multiply_integers(slot.described->shape);
      if (slot.name != bad.damage.argument) continue;
      const auto element = [&](int64_t at, std::string_view value) {
        inputs.push_back(bad.damage);
        inputs.back().at = at;
        inputs.back().value = value;
      };
      element(elements / 2, kSubnormal);
      if (elements > kMostElements) continue;
      for (int64_t at = 0; at < elements; ++at) element(at, bad.damage.value);
    }
  }
  return inputs;
}

// Judges the call on a damaged input. An operator may refuse it; error.raises judges how.
Judgement judge_value(CallUnderTest& damaged) {
  const Outcome& call = damaged.observed().outcome;
  if (!call.ok() || !damaged.reference().ok()) return Judgement::pass();
  const std::string promised = fmt::format("where {}, the result is the reference's, or the call raises",
                                           describe_variant(damaged.key().variant));
  Judgement judgement = judge_near_reference(damaged, call, promised);
  if (!judgement.finding) return judgement;
  return judge_near_reference(damaged, call, values_with_settled_nans(damaged, call), promised);
}

// Whether the same is wrong for a normal number of nearly the same size: then something else overflows.
bool is_of_all_small_numbers(CallKey damaged_key, InputDamage damage, WorkerCache& cache) {
  if (damage.value != kSubnormal) return false;
  damage.value = kSmallestNormal;
  damaged_key.variant = variant_of(damage);
  CallUnderTest damaged(damaged_key, cache);
  return judge_value(damaged).finding.has_value();
}

// Whether the same call is right in other memory, or the sample itself is wrong by now: then the special
// value is not the reason.
bool depends_on_earlier_calls(CallUnderTest& under_test, const CallKey& damaged_key) {
  constexpr size_t kAgain = 3;
  std::vector<std::unique_ptr<CallUnderTest>> alive;  // so that each call gets memory of its own
  alive.push_back(std::make_unique<CallUnderTest>(under_test.key(), under_test.cache()));
  if (judge_against_reference(*alive.back()).verdict != Verdict::pass) return true;
  for (size_t i = 0; i < kAgain; ++i) {
    alive.push_back(std::make_unique<CallUnderTest>(damaged_key, under_test.cache()));
    if (!judge_value(*alive.back()).finding) return true;
  }
  return false;
}

Judgement judge(CallUnderTest& under_test) {
  if (auto refused = refused_sample(under_test)) return *std::move(refused);
  const CallKey& key = under_test.key();
  // A result that is wrong for ordinary values says nothing about special ones.
  if (judge_against_reference(under_test).verdict != Verdict::pass) return Judgement::pass();
  // The payload of a NaN is not promised: exact results are compared as numbers with the correctly
  // rounded ones.
  Spec spec = *key.spec;
  if (spec.accuracy->exact) spec.accuracy = ulps(0.5);
  CallKey damaged_key = key;
  damaged_key.spec = &spec;
  for (const InputDamage& damage : special_inputs(key)) {
    damaged_key.variant = variant_of(damage);
    CallUnderTest damaged(damaged_key, under_test.cache());
    Judgement judgement = judge_value(damaged);
    if (!judgement.finding || is_of_all_small_numbers(damaged_key, damage, under_test.cache())) continue;
    judgement.finding->likely =
        "a comparison that is false for NaN (x > 0 ? x : 0, std::max), a maximum that starts at a finite "
        "number, a tail or a first element that takes another path, or -ffast-math";
    if (depends_on_earlier_calls(under_test, damaged_key)) {
      judgement.finding->likely = "something is kept from an earlier call";
      judgement.finding->fault.kind = fault::kKept;
    }
    return judgement;
  }
  return Judgement::pass();
}

OPGATE_REGISTER_CHECK(value_special, {.name = "value.special",
                                      .scope = {.variants = Scope::Variants::contiguous,
                                                .sweep = Scope::Sweep::one_at_a_time,
                                                .reference = true},
                                      .judge = &judge});

}  // namespace
}  // namespace opgate::value_special
