// value.empty: inputs without elements or without dims give the right shape and do not crash.
#include <algorithm>

#include "base/text.h"
#include "inputs/tensor_slots.h"
#include "judging/check.h"
#include "judging/comparison/output_judgement.h"
#include "spec/spec.h"

namespace opgate::value_empty {
namespace {

bool has_empty_or_0_dim_tensor(const Spec& spec, const Sample& sample) {
  return std::ranges::any_of(tensor_slots(spec, sample), [](const TensorSlot& slot) {
    const Shape& shape = slot.described->shape;
    return shape.empty() || std::ranges::find(shape, 0) != shape.end();
  });
}

// The spec says of another empty or 0-dim sample that the operator rejects it with these words.
bool is_promised_rejection(const Spec& spec, const std::string& message) {
  return std::ranges::any_of(spec.rejections, [&](const Rejection& rejection) {
    return has_empty_or_0_dim_tensor(spec, rejection.sample) && !rejection.because.empty() &&
           contains_ignoring_case(message, rejection.because);
  });
}

Judgement judge(CallUnderTest& under_test) {
  const Outcome& call = under_test.observed().outcome;
  if (!call.ok() && is_promised_rejection(*under_test.key().spec, call.raised->message))
    return Judgement::pass();
  return judge_against_reference(under_test);
}

OPGATE_REGISTER_CHECK(value_empty, {.name = "value.empty",
                                    .scope = {.variants = Scope::Variants::resized, .reference = true},
                                    .quick = true,
                                    .judge = &judge});

}  // namespace
}  // namespace opgate::value_empty
