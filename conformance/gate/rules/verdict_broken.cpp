// verdict.broken: no case fails that did not fail in the base.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "gate/broken.h"
#include "gate/rule.h"
#include "plan/case_parts.h"

namespace opgate::verdict_broken {
namespace {

// The number of cases that had the same verdict in the base.
size_t broken_before(const RunState* base, const Broken& broken) {
  if (base == nullptr) return 0;
  return static_cast<size_t>(std::ranges::count_if(broken.cases, [&](size_t id) {
    return std::ranges::any_of(base->broken, [&](const Broken& then) { return then.cases.contains(id); });
  }));
}

void judge(const Change& change, RuleReport& report) {
  for (const Broken& broken : change.head.broken) {
    const CaseParts parts = parts_of_case(broken.case_id);
    const std::string& happened =
        broken.judgement.finding ? broken.judgement.finding->happened : broken.judgement.reason;
    Remark remark{Remark::Kind::refused,
                  std::string(parts.check),
                  std::string(parts.op),
                  fmt::format("{}, {}: {}: {}", parts.check, parts.device,
                              to_string(broken.judgement.verdict), first_line(happened)),
                  broken.case_id,
                  std::string(parts.device),
                  broken.dtypes,
                  broken.judgement.verdict == Verdict::crash || broken.judgement.verdict == Verdict::timeout,
                  broken.defect,
                  broken.shows_best};
    if (broken.others > 0) remark.what += fmt::format(" (and {} more cases)", broken.others);
    const size_t before = broken_before(change.base_run, broken);
    if (before == broken.cases.size()) {
      remark.kind = Remark::Kind::note;
      remark.what += "; the base has the same verdict";
    } else if (before > 0) {
      remark.what += fmt::format("; {} of them have the same verdict in the base", before);
    }
    report.add(std::move(remark));
  }
}

OPGATE_REGISTER_RULE(verdict_broken, {.name = "verdict.broken", .judge = &judge});

}  // namespace
}  // namespace opgate::verdict_broken
