// class.state: an object behaves like the spec's model, whatever is called in whatever order, and holds
// nothing of the caller's.
#include <fmt/format.h>

#include <algorithm>

#include "checks/check.h"
#include "classes/course.h"

namespace opgate::class_state {
namespace {

constexpr size_t kSequences = 4;

Finding finding_of(const CallKey& key, Sequence sequence, Handling handling, Mishap mishap) {
  const auto find = [&](const Sequence& shorter) { return follow(key, shorter, handling).mishap; };
  mishap = shrink(sequence, std::move(mishap), find);
  if (const auto again = find(sequence); again && again->happened != mishap.happened) {
    mishap.likely =
        "the same calls on another new object give another result: something outlives the object, a static "
        "or global variable, or memory is read that was never written";
  }
  std::vector<std::string> detail{fmt::format("object  {}", key.sample->name),
                                  fmt::format("calls   {}", text_of(sequence))};
  if (const std::string_view meanwhile = to_string(handling); !meanwhile.empty())
    detail.push_back(fmt::format("while   {}", meanwhile));
  return {std::move(mishap.promised), std::move(mishap.happened), std::move(mishap.likely),
          std::move(detail)};
}

Judgement judge(Evidence& evidence) {
  const CallKey& key = evidence.key();
  double worst_ulps = 0;
  for (const Sequence& sequence : random_sequences(key, kSequences)) {
    for (const Handling handling : {Handling::kept, Handling::arguments_overwritten,
                                    Handling::results_overwritten, Handling::beside_another}) {
      Course course = follow(key, sequence, handling);
      if (course.mishap) return Judgement::fail(finding_of(key, sequence, handling, *course.mishap));
      worst_ulps = std::max(worst_ulps, course.worst_ulps);
    }
  }
  return Judgement::pass(worst_ulps);
}

OPGATE_REGISTER_CHECK(
    class_state,
    {.name = "class.state",
     .explanation =
         {.promise = "An object of the class behaves like the spec's model over random sequences of calls, "
                     "alone and beside another object, and holds no tensor of the caller's.",
          .why = "A TorchBind object lives as long as the model that holds it, and is called by eager code, "
                 "by exported programs and by AOTInductor packages, which reuse the memory of their tensors "
                 "as soon as a call is over. Nothing else in PyTorch looks at the state of an object.",
          .fix = "Keep copies of what must be remembered, and give copies away:\n"
                 "  last_ = x.clone();  return sum_.clone();\n"
                 "Keep state in members, never in static or global variables.",
          .example = "pytorch 128844: torch.export traced a program twice with one object; the state that "
                     "the first trace left behind made the second one wrong."},
     .worker = Worker::native,
     .scope = {.ops = false, .classes = true, .variants = Scope::Variants::contiguous},
     .judge = &judge});

}  // namespace
}  // namespace opgate::class_state
