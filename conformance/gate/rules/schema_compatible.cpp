// schema.compatible: callers of the old schema can still call the operator, by PyTorch's own rules.
#include <fmt/format.h>

#include "gate/rule.h"
#include "gate/schema_compatibility.h"
#include "spec/subject_facts.h"

namespace opgate::schema_compatible {
namespace {

constexpr auto kRule = "schema.compatible";

void judge_subject(const std::string& id, const SubjectFacts& base, const SubjectFacts& head,
                   Remarks& remarks) {
  if (base.schema == head.schema) return;
  const std::string shown = fmt::format("{}  ->  {}", base.schema, head.schema);
  const std::string reason = why_incompatible(base.schema, head.schema);
  if (reason.empty()) {
    remarks.push_back({Remark::Kind::note, kRule, id, "the schema changed so that callers still fit", shown});
  } else {
    remarks.push_back(
        {Remark::Kind::refused, kRule, id, "the schema breaks callers and packages: " + reason, shown});
  }
}

void judge(const Change& change, Remarks& remarks) {
  for_each_subject(change, [&](const std::string& id, const SubjectState& base, const SubjectState& head) {
    judge_subject(id, base.facts, head.facts, remarks);
  });
}

OPGATE_REGISTER_RULE(schema_compatible, {.name = kRule, .judge = &judge});

}  // namespace
}  // namespace opgate::schema_compatible
