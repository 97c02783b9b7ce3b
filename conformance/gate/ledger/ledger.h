// The ledger: the accepted state, committed as text. It has one sorted file per operator, so that its diff
// shows what changed.
#pragma once

#include <filesystem>
#include <string>

#include "gate/state.h"

namespace opgate {

/// The text of one operator's file: TOML, with one line for each check and one for each result. What several
/// devices have in common stands there once. ledger_reader.h reads it.
std::string ledger_text(const std::string& id, const SubjectState& subject);

/// Reads every operator of the ledger. Throws SetupError, with file and line, for a file that is not part
/// of a ledger or has conflict markers, and where there is no folder.
State read_ledger(const std::filesystem::path& folder);

/// What write_ledger() changed.
struct LedgerChanges {
  std::vector<std::string> added, changed, removed, unchanged;  ///< ids
};

/// Writes `state` into the folder: writes the files that differ, each whole or not at all, and removes the
/// files of operators that `state` does not have. With `partial`, only some operators were run, and no file
/// is removed. Throws SetupError if a file cannot be written; then nothing has changed.
LedgerChanges write_ledger(const std::filesystem::path& folder, const State& state, bool partial);

}  // namespace opgate
