// memory.uninitialised: no result depends on memory that nobody wrote.
#include "checks/check.h"
#include "checks/memory.h"
#include "checks/outputs.h"

namespace opgate::memory_uninitialised {
namespace {

Judgement judge(Evidence& evidence) {
  if (auto refused = refused_sample(evidence)) return *std::move(refused);
  return judge_poison(evidence, PoisonedMemory::fresh,
                      "every element of the result is computed, whatever the allocated memory held before");
}

OPGATE_REGISTER_CHECK(
    memory_uninitialised,
    {.name = "memory.uninitialised",
     .explanation =
         {.promise = "No result depends on uninitialised or freed memory.",
          .why =
              "at::empty returns what the last owner left. In a test that is often zero, or the right answer "
              "of the call before; in production it is somebody else's data. The call is made twice, with "
              "other bytes in fresh and in freed memory: a result that differs was computed from them.",
          .fix =
              "Write every element of what at::empty gave you, on every path (the rows that no index names, "
              "the tail, the case of no elements); or allocate with at::zeros. Initialise accumulators.",
          .example = "FBGEMM 5754, apex 1322: outputs of which some rows are written only sometimes.",
          .wrong = R"(at::Tensor out = at::empty({rows, x.size(1)}, x.options());
for (int64_t i = 0; i < index.size(0); ++i) out[named[i]].zero_();  // and the rows that nobody names?
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
