// Notices when code of the host dereferences a device address, of which a process with a GPU dies.
#pragma once

#include <optional>
#include <string>

#include "runtime/memory/address_range.h"

namespace opgate::simulator {

/// Installs a handler of SIGSEGV. A fault at another address, and every fault after the report, goes to the
/// handler that was there before. `range` must live until the process ends.
void report_host_faults(const AddressRange& range);

/// From now on the process does not die of it: the host reads zeros there, and the first fault is kept for
/// take_host_fault(). That holds for 1 GiB of device memory; code of the host that waits for a value there
/// waits for ever.
void survive_host_faults();

struct HostFault {
  std::string what;      ///< "the host dereferences device memory: the address 0x... of device 0"
  std::string function;  ///< as people write it; "a function" where the library hides its name
  std::string library;   ///< the name of the file that the function is in
};

/// Takes the fault, and lets the host fault again.
std::optional<HostFault> take_host_fault();

}  // namespace opgate::simulator
