// signers.changed: a change may not add to those whose evidence from a GPU counts.
#include "gate/rule.h"

namespace opgate::signers_changed {
namespace {

void judge(const Change& change, RuleReport& report) {
  if (!change.base_signers) return;
  // Without a list all evidence counts, whoever wrote it.
  if (!change.base_signers->empty() && change.head_signers.empty())
    report.refuse("", "evidence counts without a signature now");
  for (const std::string& line : change.head_signers) {
    if (!change.base_signers->empty() && !change.base_signers->contains(line))
      report.refuse("", "a signer of evidence is new", line);
  }
  for (const std::string& line : *change.base_signers) {
    if (!change.head_signers.empty() && !change.head_signers.contains(line))
      report.note("", "a signer of evidence was removed", line);
  }
}

OPGATE_REGISTER_RULE(signers_changed, {.name = "signers.changed", .judge = &judge});

}  // namespace
}  // namespace opgate::signers_changed
