#include "cli/project/gate_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "base/files/atomic_file.h"
#include "base/files/files.h"
#include "cli/results/remarks_text.h"
#include "cli/results/results.h"
#include "cli/results/tally.h"
#include "cli/terminal/exit_status.h"
#include "cli/terminal/terminal.h"
#include "gate/base/base_samples.h"
#include "gate/base/package_compatibility.h"
#include "gate/current_results.h"
#include "gate/evidence/evidence_signature.h"
#include "gate/partial.h"
#include "gate/speeds.h"
#include "provenance/digests.h"
#include "run/output_folder.h"
#include "run/project_setup.h"

namespace opgate::gate {
namespace {

namespace fs = std::filesystem;

// Removes from `base` what the checks of the head cannot show, and returns whether only some of the base's
// operators were run. Throws SetupError if the two runs cannot be compared.
bool keep_what_was_run(GateBase& base, const RunState& head) {
  if (base.run && chose_the_same(base.run->header, head.header)) return false;
  const std::vector<std::string> checks = checks_of(head);
  if (!checks.empty()) keep_checks(checks, base.state);
  return (base.run && is_partial(*base.run)) || !head.header.filter.ops.empty();
}

// What was left out of a run that is only a part; empty for a whole run.
std::string part_in_words(const Filter& filter) {
  std::string part;
  if (!filter.checks.empty()) part = fmt::format("the checks {}", fmt::join(filter.checks, ", "));
  if (!filter.ops.empty())
    part += fmt::format("{}the operators {}", part.empty() ? "" : " of ", fmt::join(filter.ops, ", "));
  return part;
}

// Prints what this machine has not checked: cases that passed on another machine, and cases that are owed.
void print_unchecked(const RunState& head) {
  for (const auto& [reason, number] : head.by_evidence)
    fmt::print("{}: {} cases by {}\n", coloured(Colour::green, "passed"), number, reason);
  for (const auto& [reason, number] : head.owed)
    fmt::print("{}: {} cases: {}\n", coloured(Colour::yellow, "owed"), number, reason);
}

int print_remarks(const Remarks& remarks, const Change& change) {
  const size_t refused = count_of(remarks, Remark::Kind::refused);
  if (refused > 0) {
    fmt::print("{}, {}\n{}", coloured(Colour::red, "refused"), refusals_text(remarks),
               in_lines(remarks, Remark::Kind::refused));
  }
  if (count_of(remarks, Remark::Kind::better) > 0)
    fmt::print("{}\n{}", coloured(Colour::green, "better"), in_lines(remarks, Remark::Kind::better));
  if (count_of(remarks, Remark::Kind::note) > 0)
    fmt::print("notes\n{}", in_lines(remarks, Remark::Kind::note));
  if (refused > 0) {
    fmt::print("\nFix these, or, where they are intended, {}.\n",
               change.base_run == nullptr ? "review and run `opgate accept`" : "waive them");
    return kPromiseBroken;
  }
  const std::string part = part_in_words(change.head.header.filter);
  const std::string simulated =
      change.head.simulated == 0 ? "" : fmt::format(", {} on the simulated device", change.head.simulated);
  fmt::print("{}: {} cases passed{}, nothing is worse than the base\n",
             coloured(Colour::green, part.empty() ? "accepted" : "accepted in part"), change.head.passed,
             simulated);
  if (!part.empty()) {
    fmt::print("Only {} were judged; `opgate gate` without --check and --op judges the whole change.\n",
               part);
  }
  return kAllKept;
}

// Writes the remarks into a file beside the results, from which `opgate report` takes them.
void write_remarks(const fs::path& file, const std::string& base, const RunState& head,
                   const Remarks& remarks) {
  nlohmann::json list = nlohmann::json::array();
  for (const Remark& remark : remarks) {
    const char* kind = remark.kind == Remark::Kind::refused  ? "refused"
                       : remark.kind == Remark::Kind::better ? "better"
                                                             : "note";
    list.push_back({{"kind", kind},
                    {"rule", remark.rule},
                    {"op", remark.op},
                    {"what", remark.what},
                    {"defect", remark.defect},
                    {"shown", remark.shown}});
  }
  const nlohmann::json said{{"base", base}, {"started", head.header.started}, {"remarks", std::move(list)}};
  const std::string text = said.dump(1, ' ', false, nlohmann::json::error_handler_t::replace);
  AtomicFile(file, text + "\n").commit();
}

// Runs old packages with the head's libraries: the base's packages, which were compiled before the change,
// and those that opgate.toml names.
std::vector<OldPackage> ask_old_packages(const GateBase& base, const Config& config,
                                         const fs::path& results) {
  std::vector<fs::path> packages = config.packages;
  if (!base.output.empty()) {
    const std::vector<fs::path> made = packages_in(base.output);
    packages.insert(packages.end(), made.begin(), made.end());
  }
  if (packages.empty()) return {};
  return ask_packages(packages, setup_from(config), results.parent_path());
}

// The options with which the base is run: those of the head's run that change what is run, and how.
std::vector<std::string> options_of_base(const RunOptions& run) {
  std::vector<std::string> words = run.execution.words();
  for (const std::string& op : run.filter.ops) words.insert(words.end(), {"--op", op});
  for (const std::string& check : run.filter.checks) words.insert(words.end(), {"--check", check});
  return words;
}

// The options with which the changed lines are scored.
std::vector<std::string> options_of_mutation(const RunOptions& run) {
  std::vector<std::string> words{"--jobs", std::to_string(run.execution.jobs)};
  if (run.no_simulator) words.emplace_back("--no-sim");
  return words;
}

void announce(const std::string& text) {
  fmt::print("{}\n", text);
  std::fflush(stdout);
}

GateBase base_for(const GateOptions& options, const Config& config) {
  if (!options.base.empty())
    return base_of_run_or_build(options.base, config, options_of_base(options.run), announce);
  return options.ledger_of.empty() ? base_of_ledger(config)
                                   : base_of_commit_ledger(options.ledger_of, config);
}

}  // namespace

GateRun::GateRun(const GateOptions& options)
    : options_(options),
      config_(options.run.project.read()),
      base_(base_for(options, config_)),
      own_waivers_(read_waivers(config_.waivers)),
      results_(options.results) {}

int GateRun::finish() {
  // Speeds are timed before the environment of the checks is set for this process and its children.
  if (base_.build && !options_.no_speed) time_both();
  if (results_.empty() && !run_head()) return kInterrupted;
  if (scores_mutants())
    mutants_ = mutants_of_change(base_.commit, config_, options_of_mutation(options_.run), announce);
  config_.apply_environment();
  RunState head = state_of_run(results_);
  return report(change_to(head));
}

void GateRun::time_both() {
  const BaseBuild& base = *base_.build;
  const auto stopwatch = [&](const fs::path& program, const fs::path& file, const fs::path& libraries) {
    Command command{{program, "stopwatch", "--config", file}};
    if (!libraries.empty()) command.words.insert(command.words.end(), {"--build", libraries});
    for (const std::string& op : options_.run.filter.ops)
      command.words.insert(command.words.end(), {"--op", op});
    return command;
  };
  ProgressLine progress;
  speeds_ = compare_speeds(stopwatch(base.program, base.config, base.libraries),
                           stopwatch(this_executable(), config_.file, config_.libraries_from), config_.output,
                           [&](const std::string& bench, size_t done, size_t all) {
                             if (progress.is_due())
                               progress.show(fmt::format("{:3} % | {}", 100 * done / all, bench));
                           });
  progress.clear();
}

// Whether the head ran to its end; prints its results.
bool GateRun::run_head() {
  const auto start = std::chrono::steady_clock::now();
  const auto tally = complete_run(options_.run);
  if (!tally) return false;
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  print_results(*tally, fmt::format("in {:.1f} s", elapsed.count()));
  std::fflush(stdout);
  results_ = results_file(config_.output);
  return true;
}

// A part of the checks or operators cannot show how much all of them notice.
bool GateRun::scores_mutants() const {
  return !base_.commit.empty() && least_score() > 0 && !options_.no_mutants &&
         options_.run.filter.checks.empty() && options_.run.filter.ops.empty();
}

double GateRun::least_score() const { return std::max(config_.mutation.least, base_.least_score); }

Change GateRun::change_to(RunState& head) {
  const bool libraries_here = demand_current(head.header, results_, config_);
  if (base_.run && libraries_here) {
    on_base_samples_ = run_base_samples(*base_.run, head, config_, options_.run.execution.words(), announce);
  }
  if (base_.waivers_known) note_waivers(own_waivers_, head.state);
  if (!options_.bench.empty()) add_speeds(options_.bench, libraries_digest(config_), head);
  Change change{.base = base_.state,
                .head = head,
                .base_run = base_.run ? &*base_.run : nullptr,
                .accuracy_factor = options_.accuracy_factor,
                .partial = keep_what_was_run(base_, head),
                .checks = head.header.filter.checks,
                .strict_gpu = options_.strict_gpu,
                .packages = ask_old_packages(base_, config_, results_),
                .speeds = std::move(speeds_),
                .waivers_known = base_.waivers_known,
                .base_signers = base_.signers,
                .head_signers = lines_of_signers(config_.signers),
                .base_not_covered = base_.not_covered ? &*base_.not_covered : nullptr,
                .on_base_samples = on_base_samples_ ? &*on_base_samples_ : nullptr,
                .mutants = std::move(mutants_),
                .least_score = least_score()};
  change.differences = value_differences(change);
  change.kernels_kept = keep_unchecked_devices(base_.state, head.state);
  return change;
}

// Returns the exit status.
int GateRun::report(const Change& change) {
  Remarks remarks = judge_change(change);
  apply_waivers(base_.waivers.value_or(own_waivers_), today(), change, remarks);
  write_remarks(results_.parent_path() / "gate.json", base_.name, change.head, remarks);
  fmt::print("\nbase: {}\nhead: {} of {}\n", base_.name, results_.string(), change.head.header.started);
  if (base_.run && base_.run->defects.size() + change.head.defects.size() > 0)
    fmt::print("defects: {}\n", defects_beside(*base_.run, change.head));
  if (!options_.results.empty()) print_unchecked(change.head);  // otherwise it is printed under the table
  return print_remarks(remarks, change);
}

}  // namespace opgate::gate
