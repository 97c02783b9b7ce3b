// value.special: NaN, infinities and -0 in one element of an argument give what the reference gives.
#include <fmt/format.h>

#include "inputs/bad_inputs.h"
#include "judging/check.h"
#include "judging/output_judgement.h"

namespace opgate::value_special {
namespace {

// Judges the call on this damaged input. An operator may refuse it; error.raises judges how.
Judgement judge_value(CallUnderTest& under_test, const BadInput& bad) {
  // The payload of a NaN is nobody's promise: exact results are compared as numbers with the correctly rounded ones.
  Spec spec = *under_test.key().spec;
  if (spec.accuracy->exact) spec.accuracy = ulps(0.5);
  CallKey key = under_test.key();
  key.spec = &spec;
  key.variant = bad.text;
  CallUnderTest damaged(key, under_test.cache());
  const Outcome& call = damaged.observed().outcome;
  if (!call.ok() || !damaged.reference().ok()) return Judgement::pass();
  return judge_near_reference(damaged, call,
                              fmt::format("where {}, the result is the reference's, or the call raises",
                                          describe_bad_input(bad.text)));
}

Judgement judge(CallUnderTest& under_test) {
  if (auto refused = refused_sample(under_test)) return *std::move(refused);
  const CallKey& key = under_test.key();
  // A result that is wrong for ordinary values says nothing about special ones.
  if (judge_against_reference(under_test).verdict != Verdict::pass) return Judgement::pass();
  for (const BadInput& bad : bad_inputs(*key.spec, *key.sample)) {
    if (bad.kind != BadInput::Kind::special) continue;
    if (bad.accepts_dtype != nullptr && !bad.accepts_dtype(key.dtype)) continue;
    Judgement judgement = judge_value(under_test, bad);
    if (!judgement.finding) continue;
    judgement.finding->likely =
        "a comparison that is false for NaN (x > 0 ? x : 0, std::max), a maximum that starts at a finite "
        "number, a "
        "tail or a first element that takes another path, or -ffast-math";
    return judgement;
  }
  return Judgement::pass();
}

OPGATE_REGISTER_CHECK(
    value_special,
    {.name = "value.special",
     .explanation =
         {.promise = "Where one element of an argument is NaN, infinite or -0, the result is the "
                     "reference's, or the "
                     "call raises.",
          .why = "A NaN in a loss or an activation is how a training run says that it has failed, and an "
                 "infinity is how "
                 "a mask says no. A kernel that turns them into ordinary numbers hides the failure, or lets "
                 "a masked "
                 "position through.",
          .fix = "Let comparisons keep NaN (!(x <= 0) ? x : 0, at::maximum), start maxima at -infinity, and "
                 "compile "
                 "without -ffast-math. If values for such inputs are not promised, refuse them, or write "
                 "spec.trusts(\"x\").",
          .example = "Kernels of max pooling and softmax that return the largest number, or 0, for a row "
                     "with a NaN.",
          .wrong = R"(float largest = -FLT_MAX;
for (int64_t i = 0; i < n; ++i) largest = std::max(largest, row[i]);  // drops a NaN)",
          .right = R"(float largest = -std::numeric_limits<float>::infinity();
for (int64_t i = 0; i < n; ++i) {
  if (!(row[i] <= largest)) largest = row[i];  // a NaN stays
  if (std::isnan(largest)) break;
})"},
     .worker = Worker::native,
     .scope = {.variants = Scope::Variants::contiguous,
               .sweep = Scope::Sweep::one_at_a_time,
               .reference = true},
     .judge = &judge});

}  // namespace
}  // namespace opgate::value_special
