// promise.weakened: a spec promises no less than before.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "gate/rule.h"
#include "spec/subject_facts.h"

namespace opgate::promise_weakened {
namespace {

constexpr auto kRule = "promise.weakened";

std::vector<std::string> missing(const std::vector<std::string>& from, const std::vector<std::string>& in) {
  std::vector<std::string> words;
  std::ranges::set_difference(from, in, std::back_inserter(words));
  return words;
}

std::string accuracy_text(std::optional<double> ulps) {
  return ulps ? fmt::format("{:.4g} ulps", *ulps) : "exact";
}

void judge_subject(const std::string& id, const SubjectFacts& base, const SubjectFacts& head,
                   Remarks& remarks) {
  const auto say = [&](Remark::Kind kind, std::string what, std::string shown = "") {
    remarks.push_back({kind, kRule, id, std::move(what), std::move(shown)});
  };
  if (const auto dropped = missing(base.promises, head.promises); !dropped.empty())
    say(Remark::Kind::refused, fmt::format("no longer promises {}", fmt::join(dropped, ", ")));
  if (const auto added = missing(head.promises, base.promises); !added.empty())
    say(Remark::Kind::better, fmt::format("promises {}, too", fmt::join(added, ", ")));
  const double then = base.ulps.value_or(0), now = head.ulps.value_or(0);
  if (then == now) return;
  say(now > then ? Remark::Kind::refused : Remark::Kind::better, "promises another accuracy",
      fmt::format("{} -> {}", accuracy_text(base.ulps), accuracy_text(head.ulps)));
}

void judge(const Change& change, Remarks& remarks) {
  for_each_subject(change, [&](const std::string& id, const SubjectState& base, const SubjectState& head) {
    judge_subject(id, base.facts, head.facts, remarks);
  });
}

OPGATE_REGISTER_RULE(
    promise_weakened,
    {kRule,
     {"A spec promises no less than before: no promise is dropped, and no tolerance is wider.",
      "Promising less is the easiest way to pass, and the users who rely on the promise do not notice.",
      "Fix the operator. If the promise was wrong, say so in the change, and run `opgate accept`.",
      "A tolerance that was doubled in the same change as the kernel that needed it."},
     &judge});

}  // namespace
}  // namespace opgate::promise_weakened
