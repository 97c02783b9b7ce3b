// memory.bounds: no byte outside an argument or output is written, nor one of freed memory, and no result depends on a
// byte outside.
#include "judging/check.h"
#include "judging/memory_judgement.h"
#include "judging/output_judgement.h"

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

OPGATE_REGISTER_CHECK(
    memory_bounds,
    {.name = "memory.bounds",
     .explanation =
         {.promise =
              "No byte outside an argument or output is written, nor one of freed memory, and no result "
              "depends on a byte outside.",
          .why = "The memory after a tensor belongs to another tensor. Writing to it changes "
                 "values far away and much later; reading it makes results depend on what happens "
                 "to be allocated there. The gaps inside a sliced tensor are such memory too.",
          .fix = "Bound every loop by the tensor's sizes, also in the vectorised part and its "
                 "remainder. Size the output by the same expression that indexes it. A stride "
                 "says where the next row begins, not how long it is.",
          .example = "vision 9629, sglang 36600: kernels that read or write past the end for "
                     "sizes that are not a multiple of the tile.",
          .wrong = R"(using Vector = at::vec::Vectorized<float>;
for (int64_t i = 0; i < x.numel(); i += Vector::size())  // the last one runs past the end
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
