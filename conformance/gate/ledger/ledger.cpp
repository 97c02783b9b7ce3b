#include "gate/ledger/ledger.h"

#include "base/errors.h"
#include "base/files/atomic_file.h"
#include "base/files/files.h"
#include "gate/ledger/ledger_reader.h"
#include "gate/ledger/toml_text.h"

namespace opgate {

namespace fs = std::filesystem;

State read_ledger(const fs::path& folder) {
  if (!fs::is_directory(folder)) {
    throw setup_error("there is no ledger {}; after a run, `opgate accept` writes the first",
                      folder.string());
  }
  State state;
  for (const fs::path& file : toml_files_of(folder)) {
    state[id_of_toml(file)] = subject_of_ledger(file);
  }
  return state;
}

LedgerChanges write_ledger(const fs::path& folder, const State& state, bool partial) {
  LedgerChanges changes;
  // All files are written before any is put in its place: a full disk must not leave half of a state.
  std::vector<AtomicFile> written;
  for (const auto& [id, subject] : state) {
    const fs::path file = toml_file(folder, id);
    const std::string text = ledger_text(id, subject);
    const bool is_new = !fs::exists(file);
    if (!is_new && content_of(file) == text) {
      changes.unchanged.push_back(id);
      continue;
    }
    written.emplace_back(file, text);
    (is_new ? changes.added : changes.changed).push_back(id);
  }
  for (AtomicFile& file : written) file.commit();
  if (partial || !fs::is_directory(folder)) return changes;
  for (const fs::path& file : toml_files_of(folder)) {
    if (state.contains(id_of_toml(file))) continue;
    fs::remove(file);
    changes.removed.push_back(id_of_toml(file));
  }
  return changes;
}

}  // namespace opgate
