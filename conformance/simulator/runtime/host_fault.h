// Says so when code of the host dereferences a device address, before the process dies of it.
#pragma once

#include "simulator/runtime/address_range.h"

namespace opgate::simulator {

/// Installs a handler of SIGSEGV. A fault at another address, and every fault after the report, goes to the handler that was
/// there before. `range` must live until the process ends.
void report_host_faults(const AddressRange& range);

}  // namespace opgate::simulator
