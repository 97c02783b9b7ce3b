// memory.uninitialised: no result depends on uninitialised or freed memory.
#include "judging/check.h"
#include "judging/memory_judgement.h"
#include "judging/output_judgement.h"

namespace opgate::memory_uninitialised {
namespace {

Judgement judge(CallUnderTest& under_test) {
  if (auto refused = refused_sample(under_test)) return *std::move(refused);
  return judge_poison(under_test, PoisonedMemory::fresh,
                      "every element of the result is computed, whatever the allocated memory held before");
}

OPGATE_REGISTER_CHECK(
    memory_uninitialised,
    {.name = "memory.uninitialised",
     .explanation =
         {.promise = "No result depends on uninitialised or freed memory.",
          .why =
              "at::empty returns memory that holds what its last owner left. In a test that is often zero, "
              "or the right result of the previous call; in production it is unrelated data. The check makes "
              "the call twice, with different bytes in fresh and in freed memory: a result that differs was "
              "computed from these bytes.",
          .fix =
              "Write every element of what at::empty gave you, on every path (the rows that no index names, "
              "the tail, the case of no elements); or allocate with at::zeros. Initialise accumulators.",
          .example = "FBGEMM 5754, apex 1322: outputs of which some rows are written only sometimes.",
          .wrong = R"(at::Tensor out = at::empty({rows, x.size(1)}, x.options());
for (int64_t i = 0; i < index.size(0); ++i) out[named[i]].zero_();  // rows without an index are not written
for (int64_t i = 0; i < index.size(0); ++i) out[named[i]].add_(x[i]);
return out;)",
          .right = R"(at::Tensor out = at::zeros({rows, x.size(1)}, x.options());
for (int64_t i = 0; i < index.size(0); ++i) out[named[i]].add_(x[i]);
return out;)"},
     .worker = Worker::native,
     .scope = {.variants = Scope::Variants::every},
     .judge = &judge});

}  // namespace
}  // namespace opgate::memory_uninitialised
