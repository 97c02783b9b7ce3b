// waiver.changed: reports which waivers came, went, or say something else now. Nothing is refused for it.
#include <fmt/format.h>

#include "gate/rule.h"

namespace opgate::waiver_changed {
namespace {

void report_changes(const std::string& id, const SubjectState& base, const SubjectState& head,
                    RuleReport& report) {
  for (const auto& [what, now] : head.waivers) {
    const auto then = base.waivers.find(what);
    if (then == base.waivers.end()) {
      report.note(id, fmt::format("the waiver of {} is new", what), now);
    } else if (then->second != now) {
      report.note(id, fmt::format("the waiver of {} has changed", what),
                  fmt::format("{}  ->  {}", then->second, now));
    }
  }
  for (const auto& [what, then] : base.waivers) {
    if (!head.waivers.contains(what))
      report.note(id, fmt::format("the waiver of {} was removed", what), then);
  }
}

void judge(const Change& change, RuleReport& report) {
  if (!change.waivers_known) return;
  for (const auto& [id, head] : change.head.state) {
    const auto base = change.base.find(id);
    report_changes(id, base == change.base.end() ? SubjectState() : base->second, head, report);
  }
}

OPGATE_REGISTER_RULE(waiver_changed, {.name = "waiver.changed", .judge = &judge});

}  // namespace
}  // namespace opgate::waiver_changed
