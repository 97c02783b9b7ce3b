// fake.refuses: arguments that the operator refuses whatever its tensors hold are refused by the fake kernel,
// too. value.dtype asks the same of dtypes that the spec does not declare.
#include <fmt/format.h>

#include "inputs/bad_inputs.h"
#include "judging/check.h"
#include "judging/refusals/fake_kernel.h"
#include "judging/refusals/refusing_fake.h"
#include "spec/spec.h"

namespace opgate::fake_refusal {
namespace {

Judgement judge(CallUnderTest& under_test) {
  const CallKey& key = under_test.key();
  const Observation& call = under_test.observed();
  if (call.outcome.ok()) return Judgement::pass();
  const Rejection* rejection = key.spec->find_rejection(*key.sample);
  std::string what;
  if (rejection != nullptr) {
    what = fmt::format("`{}`", rejection->sample.name);
  } else {
    const BadInput bad = find_bad_input(key);
    if (!is_visible_to_fake_kernels(bad)) return Judgement::pass();
    what = in_words(bad.damage);
  }
  if (auto finding = acceptance_by_fake(under_test, what)) return Judgement::fail(*std::move(finding));
  return Judgement::pass();
}

OPGATE_REGISTER_CHECK(fake_refuses, {.name = "fake.refuses",
                                     .scope = {.variants = Scope::Variants::bad,
                                               .dtypes = Scope::Dtypes::first,
                                               .promised = Promise::fake_refuses,
                                               .registered = true},
                                     .needs_fake = true,
                                     .obstacle = &fake_lives_in_python,
                                     .judge = &judge});

}  // namespace
}  // namespace opgate::fake_refusal
