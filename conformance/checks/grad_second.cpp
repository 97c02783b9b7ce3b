// grad.second: derivatives of the gradients equal the reference's.
#include "judging/check.h"
#include "judging/gradient_judgement.h"
#include "judging/output_judgement.h"

namespace opgate::grad_second {
namespace {

constexpr auto kPromised = "the second derivatives are the reference's";

Judgement judge(CallUnderTest& under_test) {
  if (auto refused = refused_sample(under_test)) return *std::move(refused);
  const DerivativeRequest request{.order = Order::second};
  const Differentiated mine = differentiated(under_test, request, kPromised);
  if (mine.none) return *mine.none;
  return judge_reference_gradients(under_test, request, mine.derivative, kPromised);
}

OPGATE_REGISTER_CHECK(
    grad_second,
    {.name = "grad.second",
     .explanation = {.promise = "Gradients can be differentiated again, with the reference's results, where "
                                "the spec promises twice_differentiable.",
                     .why = "Gradient penalties, Hessian-vector products and meta-learning differentiate the "
                            "backward pass. A backward that computes on raw data gives zeros there, without "
                            "an error.",
                     .fix = "Write the backward with differentiable operators, or register the backward as "
                            "an operator with a derivative of its own. Mark what cannot be differentiated "
                            "twice with once_differentiable and promise only differentiable.",
                     .example = "A backward kernel called directly, and not through the dispatcher: its "
                                "result does not depend on anything, and second derivatives are zero."},
     .worker = Worker::native,
     .scope = {.variants = Scope::Variants::contiguous,
               .promised = Promise::twice_differentiable,
               .reference = true,
               .derivatives = true},
     .judge = &judge});

}  // namespace
}  // namespace opgate::grad_second
