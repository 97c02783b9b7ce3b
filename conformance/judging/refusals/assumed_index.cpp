#include "judging/refusals/assumed_index.h"

#include <fmt/format.h>

#include "judging/comparison/memory_judgement.h"
#include "spec/spec.h"

namespace opgate {

Judgement unchecked_index(const BadInput& bad, const std::string& harm) {
  const std::string argument = bad.damage.argument.substr(0, bad.damage.argument.find('['));
  const std::string here = fmt::format("where one element is {}, {}", bad.damage.value, harm);
  return Judgement::note(Finding{
      "an index outside of the tensors is refused, or callers answer for it",
      fmt::format("`{}` is not checked: {}", bad.damage.argument, here),
      fmt::format("check it before it is used, or say spec.trusts(\"{}\") where callers answer for it",
                  argument),
      {},
      {},
      here});
}

std::optional<Judgement> harm_of_assumed_index(CallUnderTest& under_test, const BadInput& bad) {
  const Observation& call = under_test.observed();
  if (!call.damage.empty()) {
    return unchecked_index(bad, fmt::format("memory outside of {} is written",
                                            owner_of(call.damage.front().block, call.arguments)));
  }
  if (!call.outcome.ok()) return std::nullopt;
  if (judge_poison(under_test, PoisonedMemory::outside, "").finding)
    return unchecked_index(bad, "memory outside of the arguments is read");
  if (judge_poison(under_test, PoisonedMemory::fresh, "").finding)
    return unchecked_index(bad, "the result holds memory that was not written");
  return std::nullopt;
}

std::optional<Judgement> note_of_lost_worker(const CallKey& key, const Judgement& lost) {
  if (!key.spec->draft || !is_bad_input(key.variant) || !lost.uncaught.empty()) return std::nullopt;
  const BadInput bad = find_bad_input(key);
  if (!bad.assumed) return std::nullopt;
  return unchecked_index(bad, lost.reason);
}

}  // namespace opgate
