// opgate run: runs the planned cases and gives each of them a verdict.
#include <fmt/format.h>

#include <chrono>

#include "cli/commands/subcommand.h"
#include "cli/project/complete_run.h"
#include "cli/results/results.h"
#include "cli/terminal/terminal.h"

namespace opgate::run {
namespace {

using std::chrono::steady_clock;

int run(const RunOptions& options) {
  const auto start = steady_clock::now();
  const auto tally = complete_run(options);
  if (!tally) return kInterrupted;
  end_where_nobody_reads();
  return print_results(
      *tally, fmt::format("in {:.1f} s", std::chrono::duration<double>(steady_clock::now() - start).count()));
}

std::function<int()> declare(CommandLine& app) {
  app.description("Run every planned case, or the chosen ones, and say which promises hold");
  auto options = std::make_shared<RunOptions>();
  options->project.declare(app);
  declare_filter(app, options->filter);
  options->part.declare(app);
  app.add_option("--samples", options->project.samples,
                 "samples.json of another run: its samples are called instead of those of the specs")
      .type_name("FILE");
  app.add_flag("--resume", options->resume,
               "continue an interrupted run; cases that have a verdict are not run again");
  options->execution.declare(app);
  return [=] { return run(*options); };
}

OPGATE_REGISTER_SUBCOMMAND(run, {"run", &declare});

}  // namespace
}  // namespace opgate::run
