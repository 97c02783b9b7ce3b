#include "cli/results/results.h"

#include <fmt/format.h>

#include <limits>

#include "cli/results/tally.h"

namespace opgate {
namespace fs = std::filesystem;

namespace {

constexpr size_t kDefectsShown = 10;

enum class Found { complete, interrupted, other_version };

Found examine(const fs::path& file) {
  try {
    return is_finished(file) ? Found::complete : Found::interrupted;
  } catch (const OtherVersion&) {
    return Found::other_version;
  }
}

}  // namespace

void keep_interrupted(const fs::path& file) {
  // A file that is being written is left to the journal, which refuses it.
  if (!fs::exists(file) || Journal::is_being_written(file)) return;
  const Found found = examine(file);
  if (found == Found::complete) return;
  fs::path kept;
  for (int number = 1; kept.empty() || fs::exists(kept); ++number) {
    kept = file.parent_path() / fmt::format("results.interrupted-{}.jsonl", number);
  }
  fs::rename(file, kept);
  const bool interrupted = found == Found::interrupted;
  fmt::print(stderr, "opgate: the results of {} are kept as {}{}\n",
             interrupted ? "an interrupted run" : "another version of OpGate", kept.string(),
             interrupted ? " (to continue such a run, use --resume)" : "");
}

int print_results(const Tally& tally, const std::string& how, Verbosity verbosity) {
  const bool quiet = verbosity == Verbosity::quiet;
  const Tally::Columns columns =
      verbosity == Verbosity::verbose ? Tally::Columns::checks : Tally::Columns::groups;
  const size_t most = verbosity == Verbosity::verbose ? std::numeric_limits<size_t>::max() : kDefectsShown;
  fmt::print("{}{}{}{} {}\n", quiet ? "" : "\n" + tally.table(columns), tally.defects_text(most),
             quiet ? "" : tally.notes(), tally.summary(), how);
  return tally.exit_status();
}

}  // namespace opgate
