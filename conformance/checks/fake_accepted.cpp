// fake.accepted: an input that a spec does not mention and the operator accepts is accepted by the fake
// kernel, too.
#include <ATen/core/function_schema.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "inputs/bad_inputs.h"
#include "judging/check.h"
#include "judging/comparison/output_judgement.h"
#include "judging/fault.h"
#include "judging/refusals/fake_kernel.h"
#include "spec/spec.h"

namespace opgate::fake_accepted {
namespace {

bool has_sizes_of(const Outcome& call, const Outcome& reference) {
  const std::vector<at::Tensor> got = call.values(), want = expected_values(reference, call);
  return std::ranges::equal(got, want, [](const at::Tensor& a, const at::Tensor& b) {
    return a.defined() == b.defined() && (!a.defined() || a.sizes() == b.sizes());
  });
}

Judgement judge(CallUnderTest& under_test) {
  const CallKey& key = under_test.key();
  if (key.spec->find_rejection(*key.sample) != nullptr) return Judgement::pass();
  const BadInput bad = find_bad_input(key);
  // No fake kernel is asked for an undefined tensor that the operator takes.
  if (bad.kind == BadInput::Kind::undefined || !is_visible_to_fake_kernels(bad)) return Judgement::pass();
  const Outcome& real = under_test.observed().outcome;
  // An input that the reference refuses is a bad one: error.raises says so.
  if (!real.ok() || !under_test.reference().ok()) return Judgement::pass();
  if (!has_sizes_of(real, under_test.reference()))
    return Judgement::pass();  // it is the real kernel that is wrong
  const std::string promised = fmt::format(
      "where {}, which operator and reference accept, the meta kernel returns what the real one returns",
      in_words(bad.damage));
  const Outcome& meta = under_test.fake();
  const Fault fault{fault::kFake, ""};
  if (!meta.ok()) {
    if (meta.raised->message.find("data-dependent shape") != std::string::npos) return Judgement::pass();
    const std::string here = first_line(meta.raised->message);
    return Judgement::note(
        {promised,
         "the meta kernel raises: " + here,
         "a check is in one of the two kernels alone; put it into a function that both call",
         fault,
         {},
         here});
  }
  const auto difference = metadata_difference(meta, real);
  if (!difference) return Judgement::pass();
  return Judgement::fail(
      {promised, "under the meta kernel " + *difference + ", as the real kernel returned",
       "the meta kernel assumes what the real one does not check: compute the sizes and the dtype of "
       "the output in a function that both call",
       fault});
}

OPGATE_REGISTER_CHECK(fake_accepted, {.name = "fake.accepted",
                                      .scope = {.variants = Scope::Variants::bad,
                                                .dtypes = Scope::Dtypes::first,
                                                .reference = true,
                                                .registered = true},
                                      .needs_fake = true,
                                      .obstacle = &fake_lives_in_python,
                                      .judge = &judge});

}  // namespace
}  // namespace opgate::fake_accepted
