// memory.bounds: no byte outside an argument or output is written, nor read to any effect.
#include "checks/check.h"
#include "checks/memory.h"
#include "checks/outputs.h"

namespace opgate::memory_bounds {
namespace {

Judgement judge(Evidence& evidence) {
  const Observation& call = evidence.observed();
  for (const Observation* seen : {&call, &evidence.repoisoned()}) {
    if (!seen->damage.empty() && seen->damage.front().kind != Damage::Kind::freed)
      return Judgement::fail(describe_damage(seen->damage.front(), seen->arguments));
  }
  if (auto refused = refused_sample(evidence)) return *std::move(refused);
  return judge_poison(
      evidence, PoisonedMemory::outside,
      "the result depends on the elements of the arguments alone, and on no byte around them");
}

OPGATE_REGISTER_CHECK(
    memory_bounds,
    {.name = "memory.bounds",
     .explanation = {.promise =
                         "No byte outside an argument or output is written, and no result depends on one.",
                     .why = "What lies behind a tensor is another tensor. Written to, it changes values far "
                            "away and much later; read, it makes results that depend on what happened to be "
                            "allocated there. The gaps inside a sliced tensor are such memory too.",
                     .fix = "Bound every loop by the tensor's sizes, also in the vectorised part and its "
                            "remainder. Size the output by the same expression that indexes it. A stride "
                            "says where the next row begins, not how long it is.",
                     .example = "vision 9629, sglang 36600: kernels that read or write past the end for "
                                "sizes that are no multiple of the tile.",
                     .wrong = R"(using Vector = at::vec::Vectorized<float>;
for (int64_t i = 0; i < x.numel(); i += Vector::size())  // the last one runs over the end
  (Vector::loadu(from + i) * Vector(2.0F)).store(to + i);)",
                     .right = R"(using Vector = at::vec::Vectorized<float>;
for (int64_t i = 0; i < x.numel(); i += Vector::size()) {
  const int64_t count = std::min<int64_t>(Vector::size(), x.numel() - i);
  (Vector::loadu(from + i, count) * Vector(2.0F)).store(to + i, count);
})"},
     .worker = Worker::native,
     .scope = {.variants = Scope::Variants::every},
     .judge = &judge});

}  // namespace
}  // namespace opgate::memory_bounds
