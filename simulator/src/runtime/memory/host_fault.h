// Notices when code of the host dereferences a device address, of which a process with a GPU dies.
#pragma once

#include <optional>

#include <opgate_sim/finding.h>

#include "runtime/memory/address_range.h"

namespace opgate::simulator {

/// Installs a handler of SIGSEGV. A fault at another address, and every fault after the report, goes to the
/// handler that was there before. `range` must live until the process ends.
void report_host_faults(const AddressRange& range);

/// From now on the process does not die of it: the host reads zeros there, and the first fault is kept for
/// take_host_fault(). That holds for 1 GiB of device memory; code of the host that waits for a value there
/// waits for ever.
void survive_host_faults();

/// Takes the fault, and lets the host fault again. Its kernel is the function of the host, or "a function"
/// where the library hides its name, and its location the name of the file that the function is in.
std::optional<Finding> take_host_fault();

}  // namespace opgate::simulator
