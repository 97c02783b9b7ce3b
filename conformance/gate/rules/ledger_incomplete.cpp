// ledger.incomplete: every operator that is run is in the ledger, so that there is something to compare it
// with.
#include <fmt/format.h>

#include "gate/rule.h"

namespace opgate::ledger_incomplete {
namespace {

constexpr auto kRule = "ledger.incomplete";

void judge(const Change& change, Remarks& remarks) {
  for (const auto& [id, subject] : change.head.state) {
    if (change.base.contains(id)) continue;
    // Two runs beside each other say what is new; a ledger without the operator would stay so forever.
    const bool has_ledger = change.base_run == nullptr;
    remarks.push_back({has_ledger ? Remark::Kind::refused : Remark::Kind::note, kRule, id,
                       has_ledger ? "is not in the ledger; accept it first, with `opgate accept`"
                                  : "is new: the base does not have it",
                       subject.facts.where});
  }
}

OPGATE_REGISTER_RULE(ledger_incomplete, {.name = kRule, .judge = &judge});

}  // namespace
}  // namespace opgate::ledger_incomplete
