// effect.state: the process and the thread are as before the call.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "checks/check.h"
#include "checks/outputs.h"

namespace opgate::effect_state {
namespace {

Judgement judge(Evidence& evidence) {
  const Observation& call = evidence.observed();
  if (!call.state_changes.empty()) {
    return Judgement::fail({"the process and the thread are as before the call",
                            fmt::format("after the call {}", fmt::join(call.state_changes, "; ")),
                            "set such state by a guard object (at::NoGradGuard, c10::DeviceGuard), so that "
                            "it is undone on every path, exceptions too",
                            {}});
  }
  if (call.drew_random_numbers && !evidence.key().spec->promised(Promise::draws_random)) {
    return Judgement::fail({"no random numbers are drawn from the default generator",
                            "the default generator's state is another after the call",
                            "declare it, spec.promises({draws_random}), and tag the operator "
                            "nondeterministic_seeded; or take a Generator argument",
                            {}});
  }
  if (auto refused = refused_sample(evidence)) return *std::move(refused);
  return Judgement::pass();
}

OPGATE_REGISTER_CHECK(
    effect_state,
    {.name = "effect.state",
     .explanation =
         {.promise = "Random state, grad mode, default dtype, thread count, rounding and denormal mode, "
                     "dispatch keys, locale, current device and stream are as before.",
          .why = "Each of these belongs to whoever calls. An operator that leaves grad mode off makes all "
                 "that comes after it run without gradients, and nothing reports it; one that draws a number "
                 "changes every later dropout.",
          .fix = "Use guard objects, never set and reset by hand: an exception in between leaves the state "
                 "changed.",
          .example = "kernels that call at::set_num_threads(1) or _MM_SET_FLUSH_ZERO_MODE and leave it so.",
          .wrong = R"(const bool before = c10::GradMode::is_enabled();
c10::GradMode::set_enabled(false);
if (x.numel() == 0) return at::empty(x.sizes(), x.options());  // and grad mode stays off
at::Tensor out = normalised(x);
c10::GradMode::set_enabled(before);
return out;)",
          .right = R"(const c10::NoGradGuard guard;  // undone on every way out, an exception's too
if (x.numel() == 0) return at::empty(x.sizes(), x.options());
return normalised(x);)"},
     .worker = Worker::native,
     .scope = {.variants = Scope::Variants::every},
     .judge = &judge});

}  // namespace
}  // namespace opgate::effect_state
