#include "judging/calls/step_count.h"

#include <fmt/format.h>

#include "inputs/bad_inputs.h"
#include "spec/spec.h"

namespace opgate {

bool has_huge_integer(const CallKey& key) {
  if (!is_bad_input(key.variant)) return false;
  const BadInput bad = find_bad_input(key);
  return bad.kind == BadInput::Kind::integer && bad.damage.value == kHugeInteger;
}

bool may_count_steps(const CallKey& key) { return key.spec->draft && has_huge_integer(key); }

std::optional<Judgement> note_of_step_count(const CallKey& key, const Judgement& lost) {
  if (lost.verdict != Verdict::timeout || !may_count_steps(key)) return std::nullopt;
  const BadInput bad = find_bad_input(key);
  const std::string here =
      fmt::format("with {}, the call did not end in {} s", bad.damage.value, kLimitOfStepCount.count());
  return Judgement::note(Finding{
      "a call ends, or an argument that is too large is refused",
      fmt::format("`{}` has no largest value: {}", bad.damage.argument, here),
      fmt::format("if `{}` is the number of steps, this is what was asked for; otherwise refuse large values",
                  bad.damage.argument),
      {},
      {},
      here});
}

}  // namespace opgate
