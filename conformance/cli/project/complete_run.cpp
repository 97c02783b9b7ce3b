#include "cli/project/complete_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/build.h"
#include "base/errors.h"
#include "base/text.h"
#include "cli/project/project.h"
#include "cli/results/results.h"
#include "cli/results/tally.h"
#include "plan/case_parts.h"
#include "plan/case_set.h"
#include "plan/plan.h"
#include "run/output_folder.h"
#include "spec/json/samples_file.h"
#include "spec/spec.h"

namespace opgate {
namespace {

namespace fs = std::filesystem;

// The digests of all files that were tested, wherever they lay.
std::multiset<std::string> contents(const RunHeader& header) {
  std::multiset<std::string> digests;
  for (const auto& [file, digest] : header.files) digests.insert(digest);
  return digests;
}

ReadJournal interrupted_run(const fs::path& file, const RunHeader& header) {
  if (!fs::exists(file))
    throw setup_error("nothing to resume: there is no {}; run without --resume", file.string());
  ReadJournal journal = read_journal(file);
  if (journal.finished)
    throw setup_error("nothing to resume: the run in {} is complete; run without --resume", file.string());
  const RunHeader& then = journal.header;
  if (then.plan != header.plan || then.shard != header.shard || then.torch != header.torch) {
    throw setup_error(
        "{} is of another plan ({} cases, shard {}, torch {}) than this one ({} cases, shard {}, "
        "torch {}); run without --resume",
        file.string(), then.cases, to_string(then.shard), then.torch, header.cases, to_string(header.shard),
        header.torch);
  }
  if (then.libraries != header.libraries || contents(then) != contents(header) ||
      then.inputs.variables != header.inputs.variables) {
    throw setup_error(
        "{} has verdicts on other builds of the libraries, or on other Python modules or values "
        "of what they read, than those that are loaded now; run without --resume",
        file.string());
  }
  if (const std::string difference = then.difference(header); !difference.empty()) {
    throw setup_error("{} has verdicts of another run, which differs in {}; run without --resume",
                      file.string(), difference);
  }
  return journal;
}

// The verdicts of the interrupted run count, and their cases are not run again.
void take_known(const fs::path& file, const Plan& plan, CaseSet& todo, Tally& tally) {
  const CallIndex index(plan.calls);
  const auto take = [&](const std::string& case_id, const Judgement& judgement) {
    const CaseParts parts = parts_of_case(case_id);
    const auto call = index.find(parts.call);
    if (!call) return;  // the plans are the same, so `opgate run` did not write this line
    for (const Check* check : plan.calls.checks(*call)) {
      if (parts.check != check->name || !todo.remove(*call, *check)) continue;
      tally.add(case_id, judgement);
    }
  };
  read_journal(file, {.verdict = take, .facts = [&](const std::string& call_id, const CallFacts& facts) {
                        tally.add(call_id, facts);
                      }});
}

void print_not_covered(const Coverage& coverage) {
  constexpr size_t kShown = 5;
  std::vector<std::string> names(coverage.not_covered.begin(), coverage.not_covered.end());
  if (names.empty()) return;
  const size_t others = names.size() - std::min(names.size(), kShown);
  names.resize(names.size() - others);
  fmt::print("not covered ({} of {} operators have no spec and no recorded calls): {}{}\n",
             coverage.not_covered.size(), coverage.operators(), fmt::join(names, ", "),
             others == 0 ? "" : fmt::format(" and {} more; see `opgate list coverage`", others));
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
  const bool only_operators =
      std::ranges::all_of(ops, [](const Spec* spec) { return spec->kind == Spec::Kind::op; });
  fmt::print(
      "OpGate {} · torch {} · {}, {}, {}{}\n", kVersion, project.torch,
      only_operators ? counted(ops.size(), "operator") : fmt::format("{} operators and models", ops.size()),
      counted(checks.size(), "check"), counted(header.cases, "case"), part);
  std::vector<std::string> drafts;
  for (const Spec* spec : ops) {
    if (spec->draft) drafts.push_back(spec->id);
  }
  std::ranges::sort(drafts);
  for (const auto& [library, why] : project.only_in_python) {
    fmt::print("{} is checked in the Python worker alone, which is slower: {}\n",
               fs::path(library).filename().string(), why);
  }
  if (!drafts.empty()) fmt::print("drafts (only what they say is checked): {}\n", fmt::join(drafts, ", "));
  for (const Check* check : checks) {
    if (!check->missing.empty()) fmt::print("not checked: {} ({})\n", check->name, check->missing);
  }
  if (header.filter.ops.empty()) print_not_covered(header.coverage);
  std::fflush(stdout);
}

// The ids of the cases that are broken in the results of the last run. Throws SetupError if there is none.
std::vector<std::string> last_failed(const fs::path& file) {
  if (!fs::exists(file))
    throw setup_error("no run has failed before: there is no {}; run without --last-failed", file.string());
  std::vector<std::string> ids;
  const auto take = [&](const std::string& id, const Judgement& judgement) {
    if (is_broken(judgement.verdict)) ids.push_back(pattern_of(id));
  };
  read_journal(file, {.verdict = take});
  if (ids.empty()) fmt::print("no case failed in the last run: all are run\n");
  return ids;
}

// Counts verdicts, prints each if the user wants to see all, and stops the run after enough failures.
class VerdictsOfRun : public RunListener {
 public:
  VerdictsOfRun(const RunOptions& options, Tally& tally) : options_(options), tally_(tally) {}

  void on_verdict(const JudgedCase& judged) override {
    const Verdict verdict = judged.judgement.verdict;
    tally_.on_verdict(judged);
    if (options_.verbosity == Verbosity::verbose) fmt::print("{:7} {}\n", to_string(verdict), judged.id());
    if (is_broken(verdict) && ++broken_ == options_.most_failures) stopped_ = true;
  }
  void on_facts(const std::string& call_id, const CallFacts& facts) override {
    tally_.on_facts(call_id, facts);
  }

  bool is_stopped() const override { return stopped_; }

 private:
  const RunOptions& options_;
  Tally& tally_;
  size_t broken_ = 0;
  bool stopped_ = false;
};

void print_slowest(const Costs& costs, size_t most) {
  std::vector<std::pair<std::string, Cost>> all(costs.begin(), costs.end());
  std::ranges::stable_sort(all, std::greater(), [](const auto& entry) { return entry.second.seconds; });
  if (most > 0 && most < all.size()) all.resize(most);
  fmt::print("\nslowest operators (seconds of workers, with packages)\n");
  for (const auto& [name, cost] : all)
    fmt::print("  {:8.2f} s  {} ({} calls)\n", cost.seconds, name, cost.calls);
}

}  // namespace

std::optional<Tally> complete_run(const RunOptions& options) {
  static_cast<void>(options.part.read());  // a wrong --shard is reported before the wait for Python
  ProjectOptions chosen = options.project;
  chosen.keep_outputs = true;
  Project project = open_project(chosen, options.execution.limits(), &options.filter);
  Filter filter = options.filter;
  choose_simulator(filter, options.no_simulator);
  if (options.only_last_failed) filter.cases = last_failed(results_file(project.config.output));
  const Plan plan = make_plan(project.subjects, project.checks, filter);
  CaseSet todo(plan.calls, options.part.cut(plan.calls));
  const fs::path file = results_file(project.config.output);
  RunHeader header = header_of(project, plan, filter, todo, options.part);
  header.samples = options.project.samples;

  Tally tally(options.project.again(), header);
  std::unique_ptr<Journal> journal;
  if (options.resume) {
    const ReadJournal interrupted = interrupted_run(file, header);
    take_known(file, plan, todo, tally);
    journal = std::make_unique<Journal>(file, interrupted);
  } else {
    keep_interrupted(file);
    journal = std::make_unique<Journal>(file, header);
    fs::remove_all(outputs_folder(project.config.output));  // of an earlier run
    write_samples(samples_file(project.config.output), project.subjects);
  }
  if (options.verbosity != Verbosity::quiet) print_header(project, plan, header);

  VerdictsOfRun verdicts(options, tally);
  const auto costs = run_cases(project, plan, header, todo, options.execution.jobs, tally.total(), *journal,
                               verdicts, options.verbosity);
  if (verdicts.is_stopped()) {
    fmt::print("stopped after {} failure{}: {} of {} cases were not run; `opgate run --resume` continues\n",
               options.most_failures, options.most_failures == 1 ? "" : "s", header.cases - tally.total(),
               header.cases);
    return tally;
  }
  if (!costs) {
    fmt::print(stderr,
               "opgate: interrupted after {} of {} cases; their results are in {}. `opgate run --resume` "
               "continues.\n",
               tally.total(), header.cases, file.string());
    return std::nullopt;
  }
  journal->finish(tally.worst(), *costs, tally.closing_lines(), changed_files(header.inputs));
  if (options.durations >= 0) print_slowest(*costs, static_cast<size_t>(options.durations));
  return tally;
}

}  // namespace opgate
