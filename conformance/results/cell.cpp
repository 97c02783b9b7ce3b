#include "results/cell.h"

#include <fmt/format.h>

namespace opgate {

void VerdictCounts::add(const Judgement& judgement) {
  ++by_verdict[static_cast<size_t>(judgement.verdict)];
  by_evidence += judgement.verdict == Verdict::pass && judgement.given_by == GivenBy::evidence;
}

void VerdictCounts::add(const VerdictCounts& others) {
  for (size_t i = 0; i < by_verdict.size(); ++i) by_verdict[i] += others.by_verdict[i];
  by_evidence += others.by_evidence;
}

Verdict VerdictCounts::worst() const {
  if (of(Verdict::crash) > 0) return Verdict::crash;
  if (of(Verdict::fail) + of(Verdict::timeout) > 0) return Verdict::fail;
  if (of(Verdict::invalid) > 0) return Verdict::invalid;
  return of(Verdict::owed) > 0 ? Verdict::owed : Verdict::pass;
}

std::string cell_text(const VerdictCounts& counts) {
  switch (counts.worst()) {
    case Verdict::crash:
      return fmt::format("CRASH {}", counts.of(Verdict::crash));
    case Verdict::fail:
    case Verdict::timeout:
      return fmt::format("FAIL {}", counts.of(Verdict::fail) + counts.of(Verdict::timeout));
    case Verdict::invalid:
      return fmt::format("spec? {}", counts.of(Verdict::invalid));
    case Verdict::owed:
      return "owed";
    case Verdict::pass:
      break;
  }
  return counts.by_evidence > 0 ? "ok*" : "ok";
}

}  // namespace opgate
