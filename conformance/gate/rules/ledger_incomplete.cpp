// ledger.incomplete: every operator that is run is in the ledger, so that there is something to compare it
// with.
#include "gate/rule.h"

namespace opgate::ledger_incomplete {
namespace {

void judge(const Change& change, RuleReport& report) {
  for (const auto& [id, subject] : change.head.state) {
    if (change.base.contains(id)) continue;
    // Two runs beside each other say what is new; a ledger without the operator would stay so forever.
    const bool has_ledger = change.base_run == nullptr;
    report.add(has_ledger ? Remark::Kind::refused : Remark::Kind::note, id,
               has_ledger ? "is not in the ledger; accept it first, with `opgate accept`"
                          : "is new: the base does not have it",
               subject.facts.where);
  }
}

OPGATE_REGISTER_RULE(ledger_incomplete, {.name = "ledger.incomplete", .judge = &judge});

}  // namespace
}  // namespace opgate::ledger_incomplete
