// opgate gate: may this change land? Compares the results of the head (the change) with the accepted state,
// or with those of a base.
#include "cli/commands/subcommand.h"
#include "cli/project/gate_run.h"

namespace opgate::gate {
namespace {

std::function<int()> declare(CommandLine& app) {
  app.description(
      "Run everything, compare with the accepted state, and refuse what is worse, with the reasons");
  auto options = std::make_shared<GateOptions>();
  options->run.project.declare(app);
  app.add_option("--op", options->run.filter.ops,
                 "judge only operators with this name; * and ? are wildcards");
  app.add_option("--check", options->run.filter.checks,
                 "judge only checks with this id or group, such as value.layout or value");
  app.add_option("--results FILE", options->results,
                 "results.jsonl of a finished run, to be compared instead of a new run");
  app.add_option(
      "--base RUN|FOLDER|COMMIT", options->base,
      "what to compare with instead of the ledger: a run (results.jsonl or its folder), a folder with a "
      "build or a built checkout, or a git commit, which is checked out and built by the command `build` "
      "of opgate.toml");
  app.add_option(
         "--ledger-of COMMIT", options->ledger_of,
         "compare with the ledger of this git commit, and waive by its waivers, instead of those in the "
         "working tree, which the change may have changed")
      .excludes(app.get_option("--base"));
  app.add_option("--bench FILE", options->bench,
                 "bench.jsonl of `opgate bench`, to compare its speeds as well");
  app.add_option("--accuracy-factor", options->accuracy_factor,
                 "ratio to the accepted error from which an error counts as worse; by default 1.5")
      .between(1.0, 1e6);
  app.add_flag("--no-speed", options->no_speed,
               "do not time the base against the head (they are timed if the base is a build)");
  app.add_flag("--no-mutants", options->no_mutants,
               "do not score the changed lines by `opgate mutate` (they are scored if the base is a commit "
               "and opgate.toml has mutation.least)");
  app.add_flag("--strict-gpu", options->strict_gpu,
               "refuse cases that are owed (not run here) because there is no GPU");
  declare_no_simulator(app, options->run.no_simulator);
  app.add_flag("--resume", options->run.resume, "continue an interrupted run");
  options->run.execution.declare(app);
  app.footer("Exit status: 0 accepted, 1 refused, 2 wrong usage or set-up, 130 interrupted.");
  return [=] { return GateRun(*options).finish(); };
}

OPGATE_REGISTER_SUBCOMMAND(gate, {"gate", &declare});

}  // namespace
}  // namespace opgate::gate
