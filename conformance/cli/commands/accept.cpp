// opgate accept: makes the results of a run the accepted state.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <iostream>

#include "base/errors.h"
#include "base/text.h"
#include "cli/commands/subcommand.h"
#include "cli/project/project_options.h"
#include "cli/results/remarks_text.h"
#include "cli/terminal/terminal.h"
#include "gate/broken.h"
#include "gate/current_results.h"
#include "gate/ledger/ledger.h"
#include "gate/partial.h"
#include "gate/speeds.h"
#include "gate/waivers.h"
#include "provenance/digests.h"
#include "run/output_folder.h"

namespace opgate::accept {
namespace {

namespace fs = std::filesystem;

struct AcceptOptions {
  ProjectOptions project;
  fs::path results;
  fs::path bench;
  bool yes = false;
};

// A case that does not pass is accepted only if a waiver says why. Throws SetupError.
void demand_kept(const Remarks& remarks, const RunState& run) {
  std::vector<std::string> broken;
  for (const Remark& remark : remarks)
    if (remark.kind == Remark::Kind::refused && is_of_check(remark)) broken.push_back(remark.shown);
  if (broken.empty()) return;
  throw setup_error(
      "{} promises are broken in the run of {}, and nothing is accepted: fix the operators, or add "
      "waivers to the file that `waivers` in opgate.toml names; the first broken case is {}",
      broken.size(), run.header.started, broken.front());
}

// What the gate says of this run, except that operators are new.
Remarks remarks_on(const State& before, const std::optional<OperatorNames>& not_covered, const RunState& run,
                   bool some, const WaiverFile& waivers) {
  const Change change{.base = before,
                      .head = run,
                      .partial = some,
                      .waivers_known = true,
                      .base_not_covered = not_covered ? &*not_covered : nullptr};
  Remarks remarks = judge_change(change);
  std::erase_if(remarks, [](const Remark& remark) { return remark.rule == "ledger.incomplete"; });
  apply_waivers(waivers, today(), change, remarks);
  return remarks;
}

// Whether what is worse than before shall be accepted: --yes says so, or the user on a terminal.
bool is_wanted(const Remarks& remarks, bool yes) {
  const size_t worse = count_of(remarks, Remark::Kind::refused);
  if (worse == 0) return true;
  fmt::print("{}: the gate refuses {} of these changes\n{}", coloured(Colour::red, "worse"), worse,
             in_lines(remarks, Remark::Kind::refused));
  if (yes) return true;
  if (isatty(STDIN_FILENO) == 0) {
    fmt::print("\nNothing was accepted. Fix these, or review them and run `opgate accept --yes`.\n");
    return false;
  }
  fmt::print("\nAccept what is worse? [y/N] ");
  std::fflush(stdout);
  std::string answer;
  std::getline(std::cin, answer);
  if (answer == "y" || answer == "Y" || answer == "yes") return true;
  fmt::print("Nothing was accepted.\n");
  return false;
}

void print_changes(std::string_view what, const std::vector<std::string>& ids) {
  if (!ids.empty()) fmt::print("{:<10} {}\n", what, fmt::join(ids, ", "));
}

int accept(const AcceptOptions& options) {
  const Config config = options.project.read();
  if (config.ledger.empty()) {
    throw setup_error("{} names no ledger: add ledger = \"fixtures/ledger\", a folder to commit",
                      config.file.string());
  }
  const fs::path results = options.results.empty() ? results_file(config.output) : options.results;
  RunState run = state_of_run(results);
  config.apply_environment();  // it may say where Python looks for modules
  demand_current(run.header, results, config);
  const bool some = is_partial(run);
  const WaiverFile waivers = read_waivers(config.waivers);
  note_waivers(waivers, run.state);
  if (!options.bench.empty()) add_speeds(options.bench, libraries_digest(config), run);
  const State before = fs::is_directory(config.ledger) ? read_ledger(config.ledger) : State();
  keep_unchecked_devices(before, run.state);
  const Remarks remarks = remarks_on(before, read_not_covered(config.ledger), run, some, waivers);
  demand_kept(remarks, run);
  if (count_of(remarks, Remark::Kind::better) > 0)
    fmt::print("{}\n{}", coloured(Colour::green, "better"), in_lines(remarks, Remark::Kind::better));
  if (count_of(remarks, Remark::Kind::note) > 0)
    fmt::print("notes\n{}", in_lines(remarks, Remark::Kind::note));
  if (!is_wanted(remarks, options.yes)) return kPromiseBroken;
  keep_other_machines(before, machine_of(run.header), run.state);
  const LedgerChanges changes = write_ledger(config.ledger, run.state, some);
  write_not_covered(config.ledger, run.header.coverage.not_covered);
  print_changes("new", changes.added);
  print_changes("changed", changes.changed);
  print_changes("removed", changes.removed);
  size_t owed = 0;
  for (const auto& [reason, number] : run.owed) owed += number;
  const std::string simulated =
      run.simulated == 0 ? ""
                         : fmt::format(", {} passed on the simulated device and on no GPU", run.simulated);
  fmt::print("{} accepted in {} ({} of them unchanged), from the run of {}; {} owed{}\n",
             counted(run.state.size(), "operator"), config.ledger.string(), changes.unchanged.size(),
             run.header.started, counted(owed, "case"), simulated);
  return kAllKept;
}

std::function<int()> declare(CommandLine& app) {
  app.description("Make the results of the last run the accepted state, as text files to review and commit");
  auto options = std::make_shared<AcceptOptions>();
  options->project.declare(app);
  app.add_option("--results FILE", options->results, "results.jsonl of another run");
  app.add_option("--bench FILE", options->bench,
                 "bench.jsonl of `opgate bench`, to accept its speeds as well");
  app.add_flag("-y,--yes", options->yes,
               "accept also what the gate would refuse, without asking on the terminal");
  app.footer(
      "Exit status: 0 accepted, 1 nothing accepted because something is worse, 2 wrong usage or set-up.");
  return [=] { return accept(*options); };
}

OPGATE_REGISTER_SUBCOMMAND(accept, {"accept", &declare});

}  // namespace
}  // namespace opgate::accept
