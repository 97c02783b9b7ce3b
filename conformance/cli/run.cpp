// opgate run: every planned case gets a verdict.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>

#include "base/build.h"
#include "cli/project.h"
#include "cli/subcommand.h"
#include "cli/tally.h"
#include "cli/terminal.h"
#include "run/journal.h"

namespace opgate {
namespace {

namespace fs = std::filesystem;
using std::chrono::steady_clock;

struct RunOptions {
  ProjectOptions project;
  Filter filter;
  bool resume = false;
};

double seconds_since(steady_clock::time_point start) {
  return std::chrono::duration<double>(steady_clock::now() - start).count();
}

// An interrupted run's results are worth keeping: moved aside, never overwritten.
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

ReadJournal interrupted_run(const fs::path& file, const RunHeader& header) {
  if (!fs::exists(file)) throw SetupError(fmt::format("nothing to resume: there is no {}", file.string()));
  ReadJournal journal = read_journal(file);
  if (journal.finished)
    throw SetupError(fmt::format("nothing to resume: the run in {} is complete", file.string()));
  if (journal.header.plan != header.plan || journal.header.torch != header.torch) {
    throw SetupError(fmt::format(
        "{} is of another plan ({} cases, torch {}) than this one ({} cases, torch {}); run without --resume",
        file.string(), journal.header.cases, journal.header.torch, header.cases, header.torch));
  }
  if (journal.header.libraries != header.libraries) {
    throw SetupError(
        fmt::format("{} has verdicts on other builds of the libraries than those here; run without --resume",
                    file.string()));
  }
  return journal;
}

void print_header(const Project& project, const Plan& plan) {
  std::set<std::string> ops;
  std::set<std::string> checks;
  for (const PlannedCall& call : plan.calls) {
    ops.insert(call.key.spec->id);
    for (const Check* check : call.checks) checks.insert(check->name);
  }
  fmt::print("OpGate {} · torch {} · {} operators and models, {} checks, {} cases\n", kVersion, project.torch,
             ops.size(), checks.size(), plan.cases());
  std::fflush(stdout);
}

// Progress with a rate and the time left, as far as the rate so far can tell.
std::string progress_text(size_t done, size_t total, size_t before, double seconds,
                          const std::vector<std::string>& current) {
  const double rate = seconds > 0 ? static_cast<double>(done - before) / seconds : 0;
  const std::string left =
      rate > 0 ? fmt::format(", {:.0f} s left", static_cast<double>(total - done) / rate) : "";
  const std::string at = current.empty() ? "" : fmt::format(" | {}", fmt::join(current, "   "));
  return fmt::format("{:3} % | {:.0f} cases/s{}{}", 100 * done / total, rate, left, at);
}

int run(const RunOptions& options) {
  const auto start = steady_clock::now();
  Project project = open_project(options.project);
  const Plan plan = make_plan(project.subjects, project.checks, options.filter);
  const fs::path file = project.config.output / "results.jsonl";
  const RunHeader header{kVersion,     project.torch, plan.digest(),
                         plan.cases(), timestamp(),   libraries_digest(setup_from(project.config))};

  Tally tally(options.project.again());
  std::set<std::string> done;
  std::unique_ptr<Journal> journal;
  if (options.resume) {
    const ReadJournal interrupted = interrupted_run(file, header);
    std::map<std::string, const Judgement*> known;
    for (const JournalEntry& entry : interrupted.entries) known[entry.case_id] = &entry.judgement;
    for (const PlannedCall& call : plan.calls) {
      for (const Check* check : call.checks) {
        const auto found = known.find(case_id(call, *check));
        if (found == known.end()) continue;
        tally.add(call, *check, *found->second);
        done.insert(found->first);
      }
    }
    journal = std::make_unique<Journal>(file, interrupted);
  } else {
    keep_interrupted(file);
    journal = std::make_unique<Journal>(file, header);
  }
  print_header(project, plan);

  ProgressLine progress;
  const size_t before = tally.total();
  const bool complete = project.supervisor->run(
      plan, done,
      [&](const PlannedCall& call, const Check& check, const Judgement& judgement) {
        journal->add(case_id(call, check), judgement);
        tally.add(call, check, judgement);
      },
      [&](const std::vector<std::string>& current) {
        journal->flush();
        progress.show(progress_text(tally.total(), header.cases, before, seconds_since(start), current));
      });
  progress.clear();
  if (!complete) {
    journal->flush();
    fmt::print(stderr,
               "opgate: interrupted after {} of {} cases; their results are in {}. `opgate run --resume` "
               "continues.\n",
               tally.total(), header.cases, file.string());
    return kInterrupted;
  }
  if (tally.total() != header.cases) {
    throw SetupError(fmt::format("{} of {} planned cases have no verdict: this is a fault of OpGate",
                                 header.cases - tally.total(), header.cases));
  }
  journal->finish();
  fmt::print("\n{}{}{} in {:.1f} s\n", tally.table(), tally.findings(), tally.summary(),
             seconds_since(start));
  return tally.exit_status();
}

std::function<int()> declare(CLI::App& app) {
  app.description("Run every planned case, or those asked for, and say which promises hold");
  auto options = std::make_shared<RunOptions>();
  options->project.declare(app);
  declare_filter(app, options->filter);
  app.add_flag("--resume", options->resume,
               "continue an interrupted run: cases with a verdict are not run again");
  return [=] { return run(*options); };
}

OPGATE_REGISTER_SUBCOMMAND(run, {"run", &declare});

}  // namespace
}  // namespace opgate
