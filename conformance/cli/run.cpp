// opgate run: every planned case gets a verdict.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>

#include "base/build.h"
#include "cli/project.h"
#include "cli/results.h"
#include "cli/subcommand.h"
#include "cli/terminal.h"

namespace opgate {
namespace {

namespace fs = std::filesystem;
using std::chrono::steady_clock;

constexpr double kGiB = 1 << 30;

struct RunOptions {
  ProjectOptions project;
  Filter filter;
  std::string shard;
  bool resume = false;
  size_t jobs = std::max(1u, std::thread::hardware_concurrency());
  int64_t seconds = default_limits().native_case.count();
  double gib = static_cast<double>(default_limits().memory) / kGiB;
};

double seconds_since(steady_clock::time_point start) {
  return std::chrono::duration<double>(steady_clock::now() - start).count();
}

RunHeader header_of(const Project& project, const Plan& plan, const Shard& shard, const CaseSet& todo) {
  RunHeader header{kVersion,
                   engine_digest(),
                   project.torch,
                   plan.digest(),
                   todo.size(),
                   timestamp(),
                   libraries_digest(setup_from(project.config)),
                   shard};
  for (const Spec& spec : project.subjects) {
    if (spec.accuracy && !spec.accuracy->exact) header.accuracy[spec.id] = spec.accuracy->ulps;
  }
  return header;
}

ReadJournal interrupted_run(const fs::path& file, const RunHeader& header) {
  if (!fs::exists(file)) throw SetupError(fmt::format("nothing to resume: there is no {}", file.string()));
  ReadJournal journal = read_journal(file);
  if (journal.finished)
    throw SetupError(fmt::format("nothing to resume: the run in {} is complete", file.string()));
  const RunHeader& then = journal.header;
  if (then.plan != header.plan || then.shard != header.shard || then.torch != header.torch) {
    throw SetupError(
        fmt::format("{} is of another plan ({} cases, shard {}, torch {}) than this one ({} cases, shard {}, "
                    "torch {}); run "
                    "without --resume",
                    file.string(), then.cases, to_string(then.shard), then.torch, header.cases,
                    to_string(header.shard), header.torch));
  }
  if (then.libraries != header.libraries) {
    throw SetupError(
        fmt::format("{} has verdicts on other builds of the libraries than those here; run without --resume",
                    file.string()));
  }
  if (const std::string difference = then.difference(header); !difference.empty()) {
    throw SetupError(fmt::format("{} has verdicts of another run, by its {}; run without --resume",
                                 file.string(), difference));
  }
  return journal;
}

// The verdicts of the interrupted run count, and their cases are not run again.
void take_known(const fs::path& file, const Plan& plan, CaseSet& todo, Tally& tally) {
  const CallIndex index(plan.calls);
  read_journal(file, [&](const std::string& case_id, const Judgement& judgement) {
    const auto slash = case_id.rfind('/');
    const auto call = index.find(std::string_view(case_id).substr(0, slash));
    if (!call) return;  // the header says that the plans are the same, so no such line is of `opgate run`
    for (const Check* check : plan.calls.checks(*call)) {
      if (std::string_view(case_id).substr(slash + 1) != check->name || !todo.remove(*call, *check)) continue;
      tally.add(case_id, judgement);
    }
  });
}

void print_header(const Project& project, const Plan& plan, const RunHeader& header) {
  std::set<const Spec*> ops;
  std::set<const Check*> checks;
  for (Calls::Position call = 0; call < plan.calls.size(); ++call) {
    ops.insert(&plan.calls.spec(call));
    checks.insert(plan.calls.checks(call).begin(), plan.calls.checks(call).end());
  }
  const std::string part =
      header.shard == Shard{} ? "" : fmt::format(" (shard {} of {})", to_string(header.shard), plan.cases());
  fmt::print("OpGate {} · torch {} · {} operators and models, {} checks, {} cases{}\n", kVersion,
             project.torch, ops.size(), checks.size(), header.cases, part);
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
  const Shard shard = options.shard.empty() ? Shard{} : shard_from_string(options.shard);
  Project project = open_project(
      options.project, {std::chrono::seconds(options.seconds), static_cast<uint64_t>(options.gib * kGiB)});
  const Plan plan = make_plan(project.subjects, project.checks, options.filter);
  CaseSet todo(plan.calls, shard);
  const fs::path file = project.config.output / "results.jsonl";
  const RunHeader header = header_of(project, plan, shard, todo);

  Tally tally(options.project.again(), header.accuracy);
  std::unique_ptr<Journal> journal;
  if (options.resume) {
    const ReadJournal interrupted = interrupted_run(file, header);
    take_known(file, plan, todo, tally);
    journal = std::make_unique<Journal>(file, interrupted);
  } else {
    keep_interrupted(file);
    journal = std::make_unique<Journal>(file, header);
  }
  print_header(project, plan, header);

  ProgressLine progress;
  const size_t before = tally.total();
  std::string id;  // of the case at hand: its call's part stays from check to check
  size_t call_part = 0;
  std::optional<Calls::Position> call_at_hand;
  const bool complete = project.supervisor->run(
      plan, options.filter, todo, options.jobs,
      [&](Calls::Position call, const Check& check, const Judgement& judgement) {
        if (call_at_hand != call) {
          id = plan.calls.id(call) + "/";
          call_part = id.size();
          call_at_hand = call;
        }
        id.resize(call_part);
        id += check.name;
        journal->add(id, judgement);
        tally.add(id, judgement);
      },
      [&](const std::vector<std::string>& current) {
        journal->flush();
        if (!progress.is_due()) return;
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
  if (todo.size() != 0 || tally.total() != header.cases) {
    throw SetupError(fmt::format("{} of {} planned cases have no verdict: this is a fault of OpGate",
                                 todo.size(), header.cases));
  }
  journal->finish(tally.worst());
  return print_results(tally, fmt::format("in {:.1f} s", seconds_since(start)));
}

std::function<int()> declare(CLI::App& app) {
  app.description("Run every planned case, or those asked for, and say which promises hold");
  auto options = std::make_shared<RunOptions>();
  options->project.declare(app);
  declare_filter(app, options->filter);
  declare_shard(app, options->shard);
  app.add_flag("--resume", options->resume,
               "continue an interrupted run: cases with a verdict are not run again");
  app.add_option("--jobs", options->jobs, "native workers at a time; by default as many as there are cores")
      ->type_name("N")
      ->check(CLI::Range(1, 4096));
  app.add_option(
         "--time-limit", options->seconds,
         fmt::format("seconds for a native call before it is taken to hang; by default {}", options->seconds))
      ->type_name("SECONDS")
      ->check(CLI::Range(1, 86400));
  app.add_option("--memory-limit", options->gib,
                 "memory that each worker may hold, at least 1; by default all of the machine's")
      ->type_name("GIB")
      ->check(CLI::Range(1.0, 1048576.0));
  return [=] { return run(*options); };
}

OPGATE_REGISTER_SUBCOMMAND(run, {"run", &declare});

}  // namespace
}  // namespace opgate
