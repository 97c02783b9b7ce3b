// Runs and machines that see only a part: what may be compared, and what is kept of the accepted state.
#pragma once

#include "gate/state.h"

namespace opgate {

/// Whether only some operators were run. Throws SetupError where the run left out cases of those: neither the
/// ledger nor the gate can take that for what the operator does.
bool is_partial(const RunState& run);

/// Where every case on a device is owed, `head` gets what `base` knows of results there, and where no speed
/// was measured, its speeds: a machine without a GPU must not make the ledger forget what one with a GPU saw.
void keep_unchecked_devices(const State& base, State& head);

}  // namespace opgate
