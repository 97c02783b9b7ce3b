// schema.compatible: callers of the old schema can still call the operator, by PyTorch's own rules.
#include <ATen/core/function_schema.h>
#include <fmt/format.h>
#include <torch/csrc/jit/frontend/function_schema_parser.h>

#include <sstream>

#include "gate/rule.h"
#include "spec/subject_facts.h"

namespace opgate::schema_compatible {
namespace {

constexpr auto kRule = "schema.compatible";

// The reason why callers of the old schema cannot call the new one; empty where they can.
std::string why_not(const std::string& old_text, const std::string& new_text) {
  const c10::FunctionSchema then = torch::jit::parseSchema(old_text);
  const c10::FunctionSchema now = torch::jit::parseSchema(new_text);
  std::ostringstream reasons;
  if (now.isBackwardCompatibleWith(then, &reasons)) return "";
  std::string text = reasons.str();
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.pop_back();
  for (size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at))
    text.replace(at, 1, "; ");
  return text.empty() ? "arguments were removed, renamed, reordered or retyped, or have no default" : text;
}

void judge_subject(const std::string& id, const SubjectFacts& base, const SubjectFacts& head,
                   Remarks& remarks) {
  if (base.schema == head.schema) return;
  const std::string shown = fmt::format("{}  ->  {}", base.schema, head.schema);
  std::string reason;
  try {
    reason = why_not(base.schema, head.schema);
  } catch (const c10::Error& error) {
    reason = std::string("the schemas cannot be compared: ") + error.what_without_backtrace();
  }
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

OPGATE_REGISTER_RULE(
    schema_compatible,
    {kRule,
     {"Callers of the old schema can still call the operator, by PyTorch's own rules for schemas.",
      "Saved programs, packages and keyword calls rely on the names, order, types and defaults of the "
      "arguments.",
      "Add new arguments at the end, with defaults, or in an overload of its own. Do not rename or reorder "
      "arguments.",
      "A flag that was inserted before the last argument: saved programs then passed the wrong one."},
     &judge});

}  // namespace
}  // namespace opgate::schema_compatible
