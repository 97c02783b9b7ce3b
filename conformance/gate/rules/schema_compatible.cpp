// schema.compatible: callers of the old schema can still call the operator, by PyTorch's own rules.
#include <fmt/format.h>

#include "gate/rule.h"
#include "gate/schema_compatibility.h"
#include "spec/subject_facts.h"

namespace opgate::schema_compatible {
namespace {

void judge_subject(const std::string& id, const SubjectFacts& base, const SubjectFacts& head,
                   RuleReport& report) {
  if (base.schema == head.schema) return;
  const std::string shown = fmt::format("{}  ->  {}", base.schema, head.schema);
  const std::string reason = why_incompatible(base.schema, head.schema);
  if (reason.empty()) {
    report.note(id, "the schema changed so that callers still fit", shown);
  } else {
    report.refuse(id, "the schema breaks callers and packages: " + reason, shown);
  }
}

void judge(const Change& change, RuleReport& report) {
  for_each_subject(change, [&](const std::string& id, const SubjectState& base, const SubjectState& head) {
    judge_subject(id, base.facts, head.facts, report);
  });
}

OPGATE_REGISTER_RULE(schema_compatible, {.name = "schema.compatible", .judge = &judge});

}  // namespace
}  // namespace opgate::schema_compatible
