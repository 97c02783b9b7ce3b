// Ledgers that an older OpGate wrote: each device had tables of its own, and its groups of checks were named
// by digests. They are read so that `opgate gate --ledger-of COMMIT` can judge a change by the ledger of an
// older commit, and so that `opgate accept` keeps what other machines measured. Nothing writes them.
#pragma once

#include "gate/ledger_nodes.h"
#include "gate/state.h"

namespace opgate {

/// One device, from the table with its name.
DeviceState device_of_old_ledger(const LedgerNodes& nodes, const toml::table& described);

}  // namespace opgate
