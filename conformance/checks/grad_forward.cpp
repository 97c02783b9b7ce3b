// grad.forward: tangents in forward mode equal the reference's.
#include <fmt/format.h>

#include "judging/check.h"
#include "judging/comparison/gradient_judgement.h"
#include "judging/comparison/output_judgement.h"

namespace opgate::grad_forward {
namespace {

constexpr auto kPromised = "the tangents are the reference's, for random tangents of the inputs";

// `when` begins the finding where only some inputs have a tangent.
Judgement judge_tangents(CallUnderTest& under_test, const DerivativeRequest& request,
                         const std::string& when) {
  const Differentiated mine = differentiated(under_test, request, kPromised);
  if (!mine.none) return judge_reference_gradients(under_test, request, mine.derivative, kPromised, when);
  Judgement judgement = *mine.none;
  if (judgement.finding && !when.empty())
    judgement.finding->happened = when + ", " + judgement.finding->happened;
  return judgement;
}

Judgement judge(CallUnderTest& under_test) {
  if (auto refused = refused_sample(under_test)) return *std::move(refused);
  Judgement judgement = judge_tangents(under_test, {.forward = true}, "");
  const std::vector<std::string> inputs = differentiable_inputs(under_test.key(), under_test.cache().values);
  for (size_t i = 0; i < inputs.size() && inputs.size() > 1; ++i) {
    if (judgement.verdict != Verdict::pass) return judgement;
    const DerivativeRequest alone{.inputs = std::set{inputs[i]}, .forward = true};
    judgement = judge_tangents(under_test, alone, fmt::format("when only `{}` has a tangent", inputs[i]));
  }
  return judgement;
}

OPGATE_REGISTER_CHECK(grad_forward, {.name = "grad.forward",
                                     .scope = {.variants = Scope::Variants::same_sizes,
                                               .promised = Promise::forward_differentiable,
                                               .reference = true,
                                               .derivatives = true},
                                     .judge = &judge});

}  // namespace
}  // namespace opgate::grad_forward
