// class.state: an object behaves like the spec's model, whichever methods are called in whichever order,
// and keeps none of the caller's tensors.
#include <fmt/format.h>

#include <algorithm>

#include "classes/model_run.h"
#include "judging/check.h"
#include "judging/verdict.h"

namespace opgate::class_state {
namespace {

constexpr size_t kSequences = 4;

Finding finding_of(const CallKey& key, Sequence sequence, Handling handling, Mismatch mismatch) {
  const auto find = [&](const Sequence& shorter) {
    return run_beside_model(key, shorter, handling).mismatch;
  };
  mismatch = shrink(sequence, std::move(mismatch), find);
  if (const auto again = find(sequence); again && again->happened != mismatch.happened) {
    mismatch.likely =
        "the same calls on another new object give another result: state in a static or global variable "
        "outlives the object, or uninitialised memory is read";
  }
  std::vector<std::string> detail{fmt::format("object  {}", key.sample->name),
                                  fmt::format("calls   {}", text_of(sequence))};
  if (const std::string_view meanwhile = to_string(handling); !meanwhile.empty())
    detail.push_back(fmt::format("while   {}", meanwhile));
  return {std::move(mismatch.promised),
          std::move(mismatch.happened),
          std::move(mismatch.likely),
          {},
          std::move(detail)};
}

Judgement judge(CallUnderTest& under_test) {
  const CallKey& key = under_test.key();
  double worst_ulps = 0;
  for (const Sequence& sequence : random_sequences(key, kSequences)) {
    for (const Handling handling : {Handling::kept, Handling::arguments_overwritten,
                                    Handling::results_overwritten, Handling::beside_another}) {
      ModelRun course = run_beside_model(key, sequence, handling);
      if (course.mismatch) return Judgement::fail(finding_of(key, sequence, handling, *course.mismatch));
      worst_ulps = std::max(worst_ulps, course.worst_ulps);
    }
  }
  return Judgement::pass(worst_ulps);
}

OPGATE_REGISTER_CHECK(class_state,
                      {.name = "class.state",
                       .scope = {.ops = false, .classes = true, .variants = Scope::Variants::contiguous},
                       .judge = &judge});

}  // namespace
}  // namespace opgate::class_state
