// coverage.changed: reports which operators are no longer checked, or are now. Nothing is refused for it.
#include <algorithm>

#include "gate/rule.h"

namespace opgate::coverage_changed {
namespace {

bool has_spec(const State& state, const std::string& name) {
  return std::ranges::any_of(
      state, [&](const auto& subject) { return subject.second.facts.schema.starts_with(name + "("); });
}

void judge(const Change& change, RuleReport& report) {
  if (change.base_not_covered == nullptr) return;
  const auto say = [&](Remark::Kind kind, const std::string& name, std::string what) {
    report.add(kind, name, std::move(what), "opgate list coverage");
  };
  const Coverage& now = change.head.header.coverage;
  for (const std::string& name : now.not_covered) {
    if (change.base_not_covered->contains(name)) continue;
    say(Remark::Kind::note, name,
        has_spec(change.base, name) ? "is no longer covered: it has no spec and no recorded calls now"
                                    : "is new and not covered: it has no spec and no recorded calls");
  }
  for (const std::string& name : *change.base_not_covered) {
    if (now.covered.contains(name)) say(Remark::Kind::better, name, "is covered now");
    if (!now.covered.contains(name) && !now.not_covered.contains(name))
      say(Remark::Kind::note, name, "was not covered, and no library or module defines it now");
  }
}

OPGATE_REGISTER_RULE(coverage_changed, {.name = "coverage.changed", .judge = &judge});

}  // namespace
}  // namespace opgate::coverage_changed
