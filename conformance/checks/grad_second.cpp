// grad.second: derivatives of the gradients equal the reference's.
#include "judging/check.h"
#include "judging/comparison/gradient_judgement.h"
#include "judging/comparison/output_judgement.h"

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

OPGATE_REGISTER_CHECK(grad_second, {.name = "grad.second",
                                    .scope = {.variants = Scope::Variants::contiguous,
                                              .promised = Promise::twice_differentiable,
                                              .reference = true,
                                              .derivatives = true},
                                    .judge = &judge});

}  // namespace
}  // namespace opgate::grad_second
