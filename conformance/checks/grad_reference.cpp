// grad.reference: gradients equal the reference's.
#include <ATen/ops/equal.h>

#include "judging/causes/misused_cotangents.h"
#include "judging/check.h"
#include "judging/comparison/gradient_judgement.h"
#include "judging/comparison/output_judgement.h"
#include "judging/fault.h"

namespace opgate::grad_reference {
namespace {

constexpr auto kPromised = "the gradients are the reference's, for any cotangents (incoming gradients)";

// Why the gradient at the input is not the reference's.
std::string likely_reason(CallUnderTest& under_test, const Derivative& mine, const std::string& input) {
  const auto reference_at = [&](const Derivative& derivative) {
    return gradient_at(reference_derivative(under_test.key(), under_test.cache().values, {}, derivative),
                       input);
  };
  const at::Tensor right = reference_at(mine);
  const std::string ignored = ignored_cotangents(under_test, {}, mine, input, [&](const Derivative& other) {
    return !at::equal(reference_at(other), right);
  });
  if (!ignored.empty()) return ignored;
  return cotangents_taken_for_alike(under_test, {}, mine, input, [&](const Derivative& other) {
    return judge_reference_gradients(under_test, {}, other, kPromised).verdict == Verdict::pass;
  });
}

Judgement judge(CallUnderTest& under_test) {
  if (auto refused = refused_sample(under_test)) return *std::move(refused);
  const Differentiated mine = differentiated(under_test, {}, kPromised);
  if (mine.none) return *mine.none;
  Judgement near = judge_reference_gradients(under_test, {}, mine.derivative, kPromised);
  if (near.finding) {
    near.finding->fault.kind = fault::kGradient;
    near.finding->likely = likely_reason(under_test, mine.derivative, near.finding->fault.about);
  }
  if (near.verdict != Verdict::pass || !under_test.promised(Promise::deterministic)) return near;
  Judgement repeated = judge_repeated_gradients(under_test, mine.derivative);
  return repeated.verdict == Verdict::pass ? near : repeated;
}

OPGATE_REGISTER_CHECK(grad_reference, {.name = "grad.reference",
                                       .scope = {.variants = Scope::Variants::same_sizes,
                                                 .promised = Promise::differentiable,
                                                 .reference = true,
                                                 .derivatives = true},
                                       .explores = true,
                                       .judge = &judge});

}  // namespace
}  // namespace opgate::grad_reference
