// opgate run: runs the planned cases and gives each of them a verdict.
#include <fmt/format.h>

#include <chrono>

#include "cli/commands/subcommand.h"
#include "cli/project/complete_run.h"
#include "cli/results/results.h"
#include "cli/results/tally.h"
#include "cli/terminal/terminal.h"

namespace opgate::run {
namespace {

using std::chrono::steady_clock;

// Short words for what RunOptions says in one.
struct RunWords {
  bool exit_first = false;
  bool quiet = false;
  bool verbose = false;
  bool strict = false;
};

int run(const RunOptions& options, bool strict) {
  const auto start = steady_clock::now();
  const auto tally = complete_run(options);
  if (!tally) return kInterrupted;
  end_where_nobody_reads();
  const int status = print_results(
      *tally, fmt::format("in {:.1f} s", std::chrono::duration<double>(steady_clock::now() - start).count()),
      options.verbosity);
  const size_t faults = tally->faults_noted();
  if (!strict || status != kAllKept || faults == 0) return status;
  fmt::print("{} passing cases note a fault, and --strict wants none\n", faults);
  return kPromiseBroken;
}

std::function<int()> declare(CommandLine& app) {
  app.description("Run every planned case, or the chosen ones, and say which promises hold");
  auto options = std::make_shared<RunOptions>();
  options->project.declare(app);
  declare_filter(app, options->filter);
  declare_no_simulator(app, options->no_simulator);
  options->part.declare(app);
  app.add_option("--samples FILE", options->project.samples,
                 "samples.json of another run: its samples are called instead of those of the specs");
  app.add_flag("--resume", options->resume,
               "continue an interrupted run; cases that have a verdict are not run again");
  options->execution.declare(app);
  auto words = std::make_shared<RunWords>();
  CommandLineOption last = app.add_flag("--last-failed,--lf", options->only_last_failed,
                                        "only the cases that failed in the last run; all if none did");
  last.excludes(app.get_option("--case"));
  app.add_flag("-x,--exitfirst", words->exit_first, "stop after the first case that fails");
  app.add_option("--maxfail N", options->most_failures, "stop after N cases that fail").between(1, 1 << 30);
  const CommandLineOption quiet =
      app.add_flag("-q,--quiet", words->quiet, "print the defects and the summary alone");
  app.add_flag("-v,--verbose", words->verbose, "print each verdict as it comes, and all defects")
      .excludes(quiet);
  app.add_flag(
      "--strict", words->strict,
      "exit with status 1 if a note reports a fault, such as an index that the operator of a draft does not "
      "check");
  app.add_option("--durations N", options->durations, "list the N slowest operators; 0 lists all")
      .between(0, 1 << 30);
  return [=] {
    if (words->exit_first) options->most_failures = 1;
    if (words->quiet) options->verbosity = Verbosity::quiet;
    if (words->verbose) options->verbosity = Verbosity::verbose;
    return run(*options, words->strict);
  };
}

OPGATE_REGISTER_SUBCOMMAND(run, {"run", &declare});

}  // namespace
}  // namespace opgate::run
