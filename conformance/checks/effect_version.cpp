// effect.version: autograd's version counters show that an argument was written.
#include <fmt/format.h>

#include "inputs/tensor_slots.h"
#include "judging/check.h"
#include "judging/comparison/output_judgement.h"

namespace opgate::effect_version {
namespace {

// Inference mode is off here, and each input is a tensor of its own, so each has a counter.
std::vector<int64_t> versions(const Arguments& arguments) {
  std::vector<int64_t> all;
  for (const TensorInput& input : arguments.tensors)
    all.push_back(input.tensor.defined() ? input.tensor._version() : 0);
  return all;
}

Judgement judge(CallUnderTest& under_test) {
  if (auto refused = refused_sample(under_test)) return *std::move(refused);
  const CallKey& key = under_test.key();
  const Arguments arguments = materialize(key, under_test.cache().values);
  const std::vector<int64_t> before = versions(arguments);
  if (!call_on(key, arguments.stack).ok()) return Judgement::pass();  // effect.mutation reports it
  for (size_t i = 0; i < arguments.tensors.size(); ++i) {
    const TensorInput& input = arguments.tensors[i];
    if (!is_mutable(*key.spec, input.position) || !input.tensor.defined()) continue;
    if (unchanged(input.tensor, input.before) || input.tensor._version() != before[i]) continue;
    Finding finding{
        fmt::format("the version of `{}` is another one where the call has written to it", input.name),
        fmt::format("`{}` was written, and its version is {}, as before", input.name, before[i]),
        "the kernel writes through a pointer without notice to autograd: call bump_version(), or register "
        "torch::autograd::autogradNotImplementedInplaceOrViewFallback() for ADInplaceOrView"};
    // Version counters matter only to autograd.
    return under_test.promised(Promise::differentiable) ? Judgement::fail(std::move(finding))
                                                        : Judgement::note(std::move(finding));
  }
  return Judgement::pass();
}

OPGATE_REGISTER_CHECK(effect_version, {.name = "effect.version",
                                       .scope = {.variants = Scope::Variants::contiguous,
                                                 .dtypes = Scope::Dtypes::first,
                                                 .first_sample = true,
                                                 .registered = true,
                                                 .writes = true},
                                       .judge = &judge});

}  // namespace
}  // namespace opgate::effect_version
