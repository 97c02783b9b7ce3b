// The accepted state, committed as text: a file an operator, sorted, so that its diff reads as what changed.
#pragma once

#include <filesystem>
#include <string>

#include "gate/state.h"

namespace opgate {

/// The text of one operator's file: TOML, a line a check and a line a result.
std::string ledger_text(const std::string& id, const SubjectState& subject);

/// Every operator of the ledger. Throws SetupError, with file and line, for a file that is none of a ledger
/// or has conflict markers, and where there is no folder.
State read_ledger(const std::filesystem::path& folder);

/// What write_ledger() changed.
struct LedgerChanges {
  std::vector<std::string> added, changed, removed, unchanged;  ///< ids
};

/// Makes the folder say `state`: writes files that differ, each whole or not at all; and removes those of
/// operators that `state` does not have, unless only `some` operators were run. Throws SetupError where it
/// cannot write; then nothing has changed.
LedgerChanges write_ledger(const std::filesystem::path& folder, const State& state, bool some);

}  // namespace opgate
