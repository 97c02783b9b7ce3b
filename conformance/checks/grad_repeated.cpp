// grad.repeated: backward can run again over a retained graph, with the same gradients.
#include "judging/check.h"
#include "judging/comparison/gradient_judgement.h"
#include "judging/comparison/output_judgement.h"

namespace opgate::grad_repeated {
namespace {

constexpr auto kPromised = "backward runs a second time over a retained graph, and gives the same gradients";

Judgement judge(CallUnderTest& under_test) {
  if (auto refused = refused_sample(under_test)) return *std::move(refused);
  const Differentiated once = differentiated(under_test, {}, kPromised);
  if (once.none) return *once.none;
  const Derivative again =
      derivative(under_test.key(), under_test.cache().values, DerivativeRequest{.repeated = true});
  if (again.backward) {
    return Judgement::fail(
        {kPromised, "the second time, it raised: " + again.backward->message,
         "the first backward has freed or moved what it saved; leave that to autograd, which frees it "
         "unless the graph is retained"});
  }
  Judgement judgement =
      judge_gradients(again, once.derivative, *under_test.key().spec,
                      gradient_tolerance(under_test, once.derivative), kPromised, "the second time");
  if (judgement.finding && !explain_by_written_cotangent(again, *judgement.finding))
    judgement.finding->likely =
        "the first backward wrote into a saved tensor, or into a buffer that it keeps";
  return judgement;
}

OPGATE_REGISTER_CHECK(grad_repeated, {.name = "grad.repeated",
                                      .scope = {.variants = Scope::Variants::contiguous,
                                                .dtypes = Scope::Dtypes::first,
                                                .promised = Promise::differentiable,
                                                .derivatives = true},
                                      .judge = &judge});

}  // namespace
}  // namespace opgate::grad_repeated
