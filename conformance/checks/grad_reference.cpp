// grad.reference: gradients equal the reference's.
#include "checks/check.h"
#include "checks/gradients.h"
#include "checks/outputs.h"

namespace opgate::grad_reference {
namespace {

constexpr auto kPromised = "the gradients of the reference, for any incoming gradient";

Judgement judge(Evidence& evidence) {
  if (auto refused = refused_sample(evidence)) return *std::move(refused);
  const Differentiated mine = differentiated(evidence, {}, kPromised);
  if (mine.none) return *mine.none;
  Judgement judgement = judge_reference_gradients(evidence, {}, mine.derivative, kPromised);
  if (judgement.verdict == Verdict::pass && evidence.key().spec->promised(Promise::deterministic))
    judgement = judge_repeated_gradients(evidence, mine.derivative);
  return judgement;
}

OPGATE_REGISTER_CHECK(
    grad_reference,
    {.name = "grad.reference",
     .explanation =
         {.promise =
              "Gradients equal those of the reference, for random incoming gradients, in every layout of the "
              "arguments; and the same bits on every call, where the spec promises deterministic.",
          .why = "A wrong gradient raises nothing: training goes on and converges to something else. Tests "
                 "that call .sum().backward() send in ones, which hide a missing factor or a lost transpose.",
          .fix =
              "Derive the formula again for an incoming gradient that is not one. Save what the derivative "
              "reads (save_for_backward), and not what is written later. Half types accumulate in float.",
          .example = "fla 1138: a backward kernel whose gradients were wrong for some shapes only.",
          .wrong =
              R"(// Of a transposed copy: the right sizes, and the elements in another order.
static variable_list backward(AutogradContext* context, const variable_list& grads) {
  return {grads[0].reshape_symint(context->saved_data["sizes"].toSymIntVector())};
})",
          .right = R"(static variable_list backward(AutogradContext*, const variable_list& grads) {
  return {grads[0].t()};
})"},
     .worker = Worker::native,
     .scope = {.variants = Scope::Variants::same_sizes,
               .promised = Promise::differentiable,
               .reference = true,
               .derivatives = true},
     .judge = &judge});

}  // namespace
}  // namespace opgate::grad_reference
