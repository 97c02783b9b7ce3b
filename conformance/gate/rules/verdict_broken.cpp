// verdict.broken: no case breaks its promise that did not before.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "gate/rule.h"

namespace opgate {
namespace {

// "layer_norm/float32/.../cpu/value.layout" reads "layer_norm/cpu/value.layout".
std::string group_of(const std::string& case_id) {
  const CaseParts parts = parts_of_case(case_id);
  return fmt::format("{}/{}/{}", parts.op, parts.device, parts.check);
}

bool was_broken(const RunState* base, const std::string& group) {
  return base != nullptr &&
         std::ranges::any_of(base->broken, [&](const Broken& b) { return group_of(b.case_id) == group; });
}

void judge(const Change& change, Remarks& remarks) {
  for (const Broken& broken : change.head.broken) {
    const CaseParts parts = parts_of_case(broken.case_id);
    const std::string& happened =
        broken.judgement.finding ? broken.judgement.finding->happened : broken.judgement.reason;
    Remark remark{Remark::Kind::refused, std::string(parts.check), std::string(parts.op),
                  fmt::format("{}, {}: {}: {}", parts.check, parts.device,
                              to_string(broken.judgement.verdict), first_line(happened)),
                  broken.case_id};
    if (broken.others > 0) remark.what += fmt::format(" (and {} more cases)", broken.others);
    if (was_broken(change.base_run, group_of(broken.case_id))) {
      remark.kind = Remark::Kind::note;
      remark.what += "; so it was before";
    }
    remarks.push_back(std::move(remark));
  }
}

OPGATE_REGISTER_RULE(
    verdict_broken,
    {"verdict.broken",
     {"No case breaks its promise, crashes or hangs; beside a base run, none that did not there.",
      "Each check has its own reasons: `opgate explain CHECK`.",
      "The finding says what happened and how to see it again: `opgate repro CASE`.",
      "Remarks of this rule bear the name of the check."},
     &judge});

}  // namespace
}  // namespace opgate
