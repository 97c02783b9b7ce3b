// The calls of one operator in groups, as the ledger writes them: calls of a group have the same checks.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "gate/state.h"

namespace opgate {

/// Calls that have the same checks as each other, on each device.
struct CallGroup {
  /// Its first variant, and a number if other groups begin with the same one: "contiguous 2". The checks are
  /// not part of the name, so that a new check renames nothing.
  std::string name;
  std::map<std::string, CheckedDtypes> checks;               ///< by device; only those where it is planned
  std::map<std::string, std::vector<std::string>> variants;  ///< by sample
};

/// Stands instead of a check for calls that are planned without any.
inline constexpr std::string_view kNoChecks = "no checks";

/// All planned calls of the devices, in groups that are sorted by name.
std::vector<CallGroup> call_groups(const std::map<std::string, DeviceState>& devices);

}  // namespace opgate
