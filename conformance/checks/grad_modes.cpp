// grad.modes: the gradients do not depend on where the arguments come from, nor on the thread that computes
// them.
#include <fmt/format.h>

#include <array>

#include "judging/check.h"
#include "judging/comparison/gradient_judgement.h"
#include "judging/comparison/output_judgement.h"
#include "judging/fault.h"

namespace opgate::grad_modes {
namespace {

struct Mode {
  std::string_view when;
  DerivativeRequest request;
  std::string_view likely;
};

const std::array<Mode, 3>& modes() {
  static const std::array<Mode, 3> all{
      Mode{"where the arguments are results of other operators, and not leaves",
           {.given = DerivativeRequest::Given::copies},
           "the autograd kernel looks at is_leaf(), grad_fn() or grad() of its arguments"},
      Mode{"where the arguments are views of leaves",
           {.given = DerivativeRequest::Given::views},
           "the autograd kernel looks at is_leaf(), is_view() or the base of its arguments"},
      Mode{"where backward runs in another thread than the call",
           {.in_another_thread = true},
           "something that backward needs is kept in a thread_local variable, or a setting of the calling "
           "thread is expected; keep it in the context (save_for_backward, saved_data)"}};
  return all;
}

Judgement judge(CallUnderTest& under_test) {
  if (auto refused = refused_sample(under_test)) return *std::move(refused);
  constexpr auto kPromised =
      "the same gradients wherever the arguments come from, and whichever thread runs backward";
  const Differentiated whole = differentiated(under_test, {}, kPromised);
  if (whole.none) return *whole.none;
  const GradientTolerance allowed = gradient_tolerance(under_test, whole.derivative);
  for (const Mode& mode : modes()) {
    const Derivative got = derivative(under_test.key(), under_test.cache().values, mode.request);
    const auto fail = [&](const std::string& what) {
      return Judgement::fail({kPromised, fmt::format("{}, {}", mode.when, what), std::string(mode.likely)});
    };
    if (got.call) return fail("the call raised: " + got.call->message);
    if (got.backward) return fail("backward raised: " + got.backward->message);
    Judgement judgement = judge_gradients(got, whole.derivative, *under_test.key().spec, allowed, kPromised,
                                          std::string(mode.when));
    if (!judgement.finding) continue;
    judgement.finding->likely = mode.likely;
    judgement.finding->fault.kind = fault::kGradient;
    return judgement;
  }
  return Judgement::pass();
}

OPGATE_REGISTER_CHECK(grad_modes, {.name = "grad.modes",
                                   .scope = {.variants = Scope::Variants::contiguous,
                                             .dtypes = Scope::Dtypes::first,
                                             .first_sample = true,
                                             .promised = Promise::differentiable,
                                             .derivatives = true},
                                   .judge = &judge});

}  // namespace
}  // namespace opgate::grad_modes
