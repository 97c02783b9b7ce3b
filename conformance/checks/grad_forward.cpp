// grad.forward: tangents in forward mode equal the reference's.
#include <fmt/format.h>

#include "checks/check.h"
#include "checks/gradients.h"
#include "checks/outputs.h"

namespace opgate::grad_forward {
namespace {

constexpr auto kPromised = "the tangents of the reference, for random tangents of the inputs";

// Of all inputs, or of those named alone.
Judgement judge_tangents(Evidence& evidence, const Asking& asking, const std::string& when) {
  const Differentiated mine = differentiated(evidence, asking, kPromised);
  if (!mine.none) return judge_reference_gradients(evidence, asking, mine.derivative, kPromised, when);
  Judgement judgement = *mine.none;
  if (judgement.finding && !when.empty())
    judgement.finding->happened = when + ", " + judgement.finding->happened;
  return judgement;
}

Judgement judge(Evidence& evidence) {
  if (auto refused = refused_sample(evidence)) return *std::move(refused);
  Judgement judgement = judge_tangents(evidence, {.forward = true}, "");
  const std::vector<std::string> inputs = differentiable_inputs(evidence.key(), evidence.bench().values);
  for (size_t i = 0; i < inputs.size() && inputs.size() > 1; ++i) {
    if (judgement.verdict != Verdict::pass) return judgement;
    const Asking alone{.inputs = std::set{inputs[i]}, .forward = true};
    judgement = judge_tangents(evidence, alone, fmt::format("when only `{}` has a tangent", inputs[i]));
  }
  return judgement;
}

OPGATE_REGISTER_CHECK(
    grad_forward,
    {.name = "grad.forward",
     .explanation =
         {.promise = "In forward mode, the tangents of the results are those of the reference, for random "
                     "tangents of all inputs and of each alone, where the spec promises "
                     "forward_differentiable.",
          .why = "torch.func.jvp, jacfwd and forward-over-reverse Hessians use it. A kernel that computes "
                 "below autograd loses tangents without a word, and every derivative through it is zero.",
          .fix = "Write the operator as a composite of differentiable ones, or give its "
                 "torch.autograd.Function a jvp; one in C++ cannot have any. A tangent that an input does "
                 "not have comes as None or undefined: it counts as zeros.",
          .example = "A jvp that reads only the first input's tangent: right in every test that perturbs x, "
                     "wrong for the weights."},
     .worker = Worker::native,
     .scope = {.variants = Scope::Variants::same_sizes,
               .promised = Promise::forward_differentiable,
               .reference = true,
               .derivatives = true},
     .judge = &judge});

}  // namespace
}  // namespace opgate::grad_forward
