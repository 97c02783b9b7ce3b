// One file of the ledger as the state of its operator: the inverse of ledger_text().
#pragma once

#include <filesystem>

#include "gate/state.h"

namespace opgate {

/// Throws SetupError, with file and line, for a file that is not part of a ledger or has conflict markers.
SubjectState subject_of_ledger(const std::filesystem::path& file);

}  // namespace opgate
