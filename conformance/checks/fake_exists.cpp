// fake.exists: the operator has a fake (meta) kernel.
#include "judging/check.h"
#include "judging/refusals/fake_kernel.h"
#include "judging/verdict.h"
#include "spec/registration.h"
#include "spec/spec.h"

namespace opgate::fake_exists {
namespace {

bool has_fake(const Spec& spec) { return !spec.lacks_fake && has_fake_kernel(*spec.op); }

std::optional<Obstacle> obstacle(const CallKey& key) {
  return has_fake(*key.spec) ? std::nullopt : fake_lives_in_python(key);
}

Judgement judge(CallUnderTest& under_test) {
  if (has_fake(*under_test.key().spec)) return Judgement::pass();
  return Judgement::fail({"the operator has a fake kernel, for tensors without data",
                          "none is registered for Meta",
                          "register one in C++ with TORCH_LIBRARY_IMPL(..., Meta, m), which C++ programs see "
                          "too; or in Python with torch.library.register_fake, and "
                          "m.set_python_module(\"...\") in C++"});
}

OPGATE_REGISTER_CHECK(fake_exists, {.name = "fake.exists",
                                    .scope = {.variants = Scope::Variants::contiguous,
                                              .dtypes = Scope::Dtypes::first,
                                              .first_sample = true,
                                              .registered = true},
                                    .quick = true,
                                    .obstacle = &obstacle,
                                    .judge = &judge});

}  // namespace
}  // namespace opgate::fake_exists
