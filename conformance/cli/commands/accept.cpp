// opgate accept: makes the results of a run the accepted state.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <opgate/error.h>

#include "cli/commands/subcommand.h"
#include "cli/project/complete_run.h"
#include "gate/ledger.h"
#include "gate/partial.h"
#include "gate/speeds.h"
#include "gate/waivers.h"
#include "run/digests.h"
#include "run/project_setup.h"

namespace opgate::accept {
namespace {

namespace fs = std::filesystem;

struct AcceptOptions {
  ProjectOptions project;
  fs::path results;
  fs::path bench;
};

// A broken promise is accepted only if a waiver says why. Throws SetupError.
void demand_kept(const RunState& run, const std::vector<Waiver>& waivers) {
  const State nothing;
  Remarks remarks;
  Registry<Rule>::instance().find("verdict.broken")->judge({.base = nothing, .head = run}, remarks);
  std::vector<std::string> broken;
  for (const Remark& remark : remarks) {
    const bool waived =
        std::ranges::any_of(waivers, [&](const Waiver& waiver) { return covers(waiver, remark); });
    if (!waived) broken.push_back(remark.shown);
  }
  if (broken.empty()) return;
  throw SetupError(
      fmt::format("{} promises are broken in this run, and nothing is accepted: fix the operators, or add "
                  "waivers to the file that `waivers` in opgate.toml names; the first broken case is {}",
                  broken.size(), broken.front()));
}

void print_changes(std::string_view what, const std::vector<std::string>& ids) {
  if (!ids.empty()) fmt::print("{:<10} {}\n", what, fmt::join(ids, ", "));
}

int accept(const AcceptOptions& options) {
  const Config config = options.project.read();
  if (config.ledger.empty()) {
    throw SetupError(fmt::format("{} names no ledger: add ledger = \"fixtures/ledger\", a folder to commit",
                                 config.file.string()));
  }
  RunState run = state_of_run(options.results.empty() ? results_file(config) : options.results);
  const bool some = is_partial(run);
  demand_kept(run, read_waivers(config.waivers));
  if (!options.bench.empty()) add_speeds(options.bench, libraries_digest(setup_from(config)), run);
  if (fs::is_directory(config.ledger)) {
    const State before = read_ledger(config.ledger);
    keep_unchecked_devices(before, run.state);
    keep_other_machines(before, machine_of(run.header), run.state);
  }
  const LedgerChanges changes = write_ledger(config.ledger, run.state, some);
  print_changes("new", changes.added);
  print_changes("changed", changes.changed);
  print_changes("removed", changes.removed);
  fmt::print("{} operators accepted in {} ({} of them unchanged), from the run of {}; {} cases are owed\n",
             run.state.size(), config.ledger.string(), changes.unchanged.size(), run.header.started,
             run.entries - run.passed);
  return kAllKept;
}

std::function<int()> declare(CommandLine& app) {
  app.description("Make the results of the last run the accepted state, as text files to review and commit");
  auto options = std::make_shared<AcceptOptions>();
  options->project.declare(app);
  app.add_option("--results", options->results, "results.jsonl of another run").type_name("FILE");
  app.add_option("--bench", options->bench, "bench.jsonl of `opgate bench`, to accept its speeds as well")
      .type_name("FILE");
  return [=] { return accept(*options); };
}

OPGATE_REGISTER_SUBCOMMAND(accept, {"accept", &declare});

}  // namespace
}  // namespace opgate::accept
