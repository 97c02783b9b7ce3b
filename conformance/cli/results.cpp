#include "cli/results.h"

#include <fmt/format.h>

namespace opgate {
namespace fs = std::filesystem;

void keep_interrupted(const fs::path& file) {
  if (!fs::exists(file) || Journal::is_being_written(file)) return;  // the journal refuses the latter
  if (read_journal(file).finished) return;
  fs::path kept;
  for (int number = 1; kept.empty() || fs::exists(kept); ++number) {
    kept = file.parent_path() / fmt::format("results.interrupted-{}.jsonl", number);
  }
  fs::rename(file, kept);
  fmt::print(
      stderr,
      "opgate: the results of an interrupted run are kept as {} (to continue such a run, use --resume)\n",
      kept.string());
}

int print_results(const Tally& tally, const std::string& how) {
  fmt::print("\n{}{}{} {}\n", tally.table(), tally.findings(), tally.summary(), how);
  return tally.exit_status();
}

}  // namespace opgate
