// run.deterministic: the result has the same bits on every call.
#include <fmt/format.h>

#include "device/simulator.h"
#include "judging/check.h"
#include "judging/comparison/output_judgement.h"
#include "judging/fault.h"
#include "spec/spec.h"

namespace opgate::run_deterministic {
namespace {

constexpr int kCalls = 8;

Judgement judge(CallUnderTest& under_test) {
  if (auto refused = refused_sample(under_test)) return *std::move(refused);
  const Spec& spec = *under_test.key().spec;
  const std::vector<at::Tensor> first = under_test.observed().outcome.values();
  for (int call = 2; call <= kCalls; ++call) {
    const BlockOrders other(block_orders_of(under_test.key(), static_cast<unsigned>(call)));
    const Observation again = observe(under_test.key(), under_test.cache().values, {.take_snapshots = false});
    if (!again.outcome.ok()) {
      return Judgement::fail({"the same bits on every call",
                              fmt::format("call {} raised: {}", call, again.outcome.raised->message),
                              "the operator keeps something from one call to the next",
                              {fault::kUnstable, ""}});
    }
    Judgement judgement = judge_values(again.outcome.values(), first,
                                       {.unspecified = again.outcome.tensors_of(spec.unspecified)},
                                       "the same bits on every call");
    if (!judgement.finding) continue;
    judgement.finding->happened = fmt::format("call {} of {}: {}", call, kCalls, judgement.finding->happened);
    judgement.finding->likely =
        "floating-point numbers are added in the order in which threads arrive (atomics, a shared "
        "accumulator), an unordered container decides the order, or something is kept from the previous call";
    judgement.finding->fault.kind = fault::kUnstable;
    return judgement;
  }
  return Judgement::pass();
}

OPGATE_REGISTER_CHECK(run_deterministic,
                      {.name = "run.deterministic",
                       .scope = {.variants = Scope::Variants::contiguous, .promised = Promise::deterministic},
                       .judge = &judge});

}  // namespace
}  // namespace opgate::run_deterministic
