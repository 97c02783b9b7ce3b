// waiver.changed: reports which waivers came, went, or say something else now. Nothing is refused for it.
#include <fmt/format.h>

#include "gate/rule.h"

namespace opgate::waiver_changed {
namespace {

constexpr auto kRule = "waiver.changed";

void report_changes(const std::string& id, const SubjectState& base, const SubjectState& head,
                    Remarks& remarks) {
  const auto report = [&](std::string what, std::string shown) {
    remarks.push_back({Remark::Kind::note, kRule, id, std::move(what), std::move(shown)});
  };
  for (const auto& [what, now] : head.waivers) {
    const auto then = base.waivers.find(what);
    if (then == base.waivers.end()) {
      report(fmt::format("the waiver of {} is new", what), now);
    } else if (then->second != now) {
      report(fmt::format("the waiver of {} has changed", what), fmt::format("{}  ->  {}", then->second, now));
    }
  }
  for (const auto& [what, then] : base.waivers) {
    if (!head.waivers.contains(what)) report(fmt::format("the waiver of {} was removed", what), then);
  }
}

void judge(const Change& change, Remarks& remarks) {
  if (!change.waivers_known) return;
  for (const auto& [id, head] : change.head.state) {
    const auto base = change.base.find(id);
    report_changes(id, base == change.base.end() ? SubjectState() : base->second, head, remarks);
  }
}

OPGATE_REGISTER_RULE(waiver_changed, {.name = kRule, .judge = &judge});

}  // namespace
}  // namespace opgate::waiver_changed
