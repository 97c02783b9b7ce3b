// signers.changed: a change may not add to those whose evidence from a GPU counts.
#include <fmt/format.h>

#include "gate/rule.h"

namespace opgate::signers_changed {
namespace {

constexpr auto kRule = "signers.changed";

void judge(const Change& change, Remarks& remarks) {
  if (!change.base_signers) return;
  // Without a list all evidence counts, whoever wrote it.
  if (!change.base_signers->empty() && change.head_signers.empty())
    remarks.push_back({Remark::Kind::refused, kRule, "", "evidence counts without a signature now", ""});
  for (const std::string& line : change.head_signers) {
    if (!change.base_signers->empty() && !change.base_signers->contains(line))
      remarks.push_back({Remark::Kind::refused, kRule, "", "a signer of evidence is new", line});
  }
  for (const std::string& line : *change.base_signers) {
    if (!change.head_signers.empty() && !change.head_signers.contains(line))
      remarks.push_back({Remark::Kind::note, kRule, "", "a signer of evidence was removed", line});
  }
}

OPGATE_REGISTER_RULE(signers_changed, {.name = kRule, .judge = &judge});

}  // namespace
}  // namespace opgate::signers_changed
