// effect.copy_on_write: a call on lazy clones of the arguments leaves what they were cloned from unchanged.
#include <ATen/ops/_lazy_clone.h>
#include <fmt/format.h>

#include "judging/check.h"
#include "judging/comparison/output_judgement.h"
#include "judging/fault.h"
#include "memory/storage_snapshot.h"
#include "spec/spec.h"

namespace opgate::effect_copy_on_write {
namespace {

Judgement judge(CallUnderTest& under_test) {
  if (auto refused = refused_sample(under_test)) return *std::move(refused);
  const CallKey& key = under_test.key();
  Arguments arguments = materialize(key, under_test.cache().values);
  for (const TensorInput& input : arguments.tensors) {
    // PyTorch itself cannot resize a lazy clone that has no memory to share.
    if (input.before.size() != 0) arguments.replace(input, at::_lazy_clone(input.tensor));
  }
  const Outcome got = call_on(key, arguments.stack);
  for (const TensorInput& input : arguments.tensors) {
    if (input.before.size() == 0 || unchanged(input.tensor, input.before)) continue;
    return Judgement::fail(
        {fmt::format("where `{}` is a lazy clone, the tensor that it was cloned from is unchanged",
                     input.name),
         fmt::format("the call on the clone of `{}` has written to the memory that both share", input.name),
         "the kernel writes by a pointer to const (const_data_ptr with a cast, storage().data()); take "
         "mutable_data_ptr of what is written, by which the clone gets memory of its own",
         {fault::kMutation, input.name}});
  }
  if (got.ok()) return Judgement::pass();
  return Judgement::fail({"the operator takes lazy clones of its arguments as it takes the arguments",
                          fmt::format("it raises: {}", got.raised->message)});
}

OPGATE_REGISTER_CHECK(effect_copy_on_write,
                      {.name = "effect.copy_on_write",
                       .scope = {.variants = Scope::Variants::contiguous, .dtypes = Scope::Dtypes::first},
                       .quick = true,
                       .judge = &judge});

}  // namespace
}  // namespace opgate::effect_copy_on_write
