// memory.bounds: no byte outside an argument or output is written, nor one of freed memory, and no result
// depends on a byte outside.
#include "judging/check.h"
#include "judging/comparison/memory_judgement.h"
#include "judging/comparison/output_judgement.h"

namespace opgate::memory_bounds {
namespace {

Judgement judge(CallUnderTest& under_test) {
  const Observation& call = under_test.observed();
  for (const Observation* seen : {&call, &under_test.repoisoned()}) {
    if (!seen->damage.empty()) return Judgement::fail(describe_damage(seen->damage.front(), seen->arguments));
  }
  if (auto refused = refused_sample(under_test)) return *std::move(refused);
  return judge_poison(
      under_test, PoisonedMemory::outside,
      "the result depends on the elements of the arguments alone, and on no byte around them");
}

OPGATE_REGISTER_CHECK(memory_bounds, {.name = "memory.bounds",
                                      .scope = {.variants = Scope::Variants::every},
                                      .quick = true,
                                      .explores = true,
                                      .judge = &judge});

}  // namespace
}  // namespace opgate::memory_bounds
