// opgate gate: may this change land? Compares the results of the head (the change) with the accepted state,
// or with those of a base.
#include <fmt/format.h>
#include <opgate/error.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/files.h"
#include "base/text.h"
#include "cli/commands/subcommand.h"
#include "cli/project/complete_run.h"
#include "cli/results/remarks_text.h"
#include "cli/results/results.h"
#include "cli/terminal/terminal.h"
#include "gate/base/base_samples.h"
#include "gate/base/gate_base.h"
#include "gate/base/mutated_lines.h"
#include "gate/base/package_compatibility.h"
#include "gate/base/speed_pairs.h"
#include "gate/current_results.h"
#include "gate/evidence_signature.h"
#include "gate/partial.h"
#include "gate/rule.h"
#include "gate/speeds.h"
#include "gate/waivers.h"
#include "provenance/digests.h"
#include "run/output_folder.h"
#include "run/project_setup.h"

namespace opgate::gate {
namespace {

namespace fs = std::filesystem;

constexpr size_t kDateLength = 10;  // the date in "2026-11-22T..."

struct GateOptions {
  RunOptions run;
  fs::path results;
  std::string base;
  std::string ledger_of;
  fs::path bench;
  double accuracy_factor = 1.5;
  bool strict_gpu = false;
  bool no_speed = false;
  bool no_mutants = false;
};

// Returns whether only some of the base's operators were run, and removes from `base` what the checks of the
// head cannot show. Throws SetupError if the two runs cannot be compared.
bool some_operators(GateBase& base, const RunState& head) {
  if (base.run && chose_the_same(base.run->header, head.header)) return false;
  const std::vector<std::string> checks = checks_of(head);
  if (!checks.empty()) keep_checks(checks, base.state);
  return (base.run && is_partial(*base.run)) || !head.header.filter.get<Filter>().ops.empty();
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
  const std::string part = part_in_words(change.head.header.filter.get<Filter>());
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

SpeedPairs time_both(const BaseBuild& base, const GateOptions& options, const Config& config) {
  const auto stopwatch = [&](const fs::path& program, const fs::path& file, const fs::path& libraries) {
    Command command{{program, "stopwatch", "--config", file}, {}};
    if (!libraries.empty()) command.words.insert(command.words.end(), {"--build", libraries});
    for (const std::string& op : options.run.filter.ops)
      command.words.insert(command.words.end(), {"--op", op});
    return command;
  };
  ProgressLine progress;
  const SpeedPairs pairs =
      compare_speeds(stopwatch(base.program, base.config, base.libraries),
                     stopwatch(this_executable(), config.file, config.libraries_from), config.output,
                     [&](const std::string& bench, size_t done, size_t all) {
                       if (progress.is_due())
                         progress.show(fmt::format("{:3} % | {}", 100 * done / all, bench));
                     });
  progress.clear();
  return pairs;
}

// The options with which the base is run: those of the head's run that change what is run, and how.
std::vector<std::string> options_of_base(const RunOptions& run) {
  std::vector<std::string> words = run.execution.words();
  for (const std::string& op : run.filter.ops) words.insert(words.end(), {"--op", op});
  for (const std::string& check : run.filter.checks) words.insert(words.end(), {"--check", check});
  return words;
}

void announce(const std::string& text) {
  fmt::print("{}\n", text);
  std::fflush(stdout);
}

// The options with which the changed lines are scored.
std::vector<std::string> options_of_mutation(const RunOptions& run) {
  std::vector<std::string> words{"--jobs", std::to_string(run.execution.jobs)};
  if (run.no_simulator) words.emplace_back("--no-sim");
  return words;
}

int gate(const GateOptions& options) {
  const Config config = options.run.project.read();
  // The base and the waivers are read first, so that mistakes in them are reported before the long run.
  GateBase base = !options.base.empty()
                      ? base_of_run_or_build(options.base, config, options_of_base(options.run), announce)
                  : !options.ledger_of.empty() ? base_of_commit_ledger(options.ledger_of, config)
                                               : base_of_ledger(config);
  const std::vector<Waiver> own_waivers = read_waivers(config.waivers);
  // Speeds are timed before the environment of the checks is set for this process and its children.
  SpeedPairs speeds;
  if (base.build && !options.no_speed) speeds = time_both(*base.build, options, config);
  fs::path results = options.results;
  if (results.empty()) {
    const auto start = std::chrono::steady_clock::now();
    const auto tally = complete_run(options.run);
    if (!tally) return kInterrupted;
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    print_results(*tally, fmt::format("in {:.1f} s", elapsed.count()));
    std::fflush(stdout);
    results = results_file(config.output);
  }
  // A part of the checks or operators cannot show how much all of them notice.
  const double least_score = std::max(config.mutation.least, base.least_score);
  const bool scored = !base.commit.empty() && least_score > 0 && !options.no_mutants &&
                      options.run.filter.checks.empty() && options.run.filter.ops.empty();
  std::optional<std::vector<MutantResult>> mutants;
  if (scored) mutants = mutants_of_change(base.commit, config, options_of_mutation(options.run), announce);
  config.apply_environment();
  RunState head = state_of_run(results);
  const bool libraries_here = demand_current(head.header, results, config);
  std::optional<RunState> on_base_samples;
  if (base.run && libraries_here)
    on_base_samples = run_base_samples(*base.run, head, config, options.run.execution.words(), announce);
  if (base.waivers_known) note_waivers(own_waivers, head.state);
  Change change{.base = base.state,
                .head = head,
                .base_run = base.run ? &*base.run : nullptr,
                .accuracy_factor = options.accuracy_factor,
                .partial = some_operators(base, head),
                .checks = head.header.filter.get<Filter>().checks,
                .strict_gpu = options.strict_gpu,
                .waivers_known = base.waivers_known,
                .base_signers = base.signers,
                .head_signers = lines_of_signers(config.signers),
                .base_not_covered = base.not_covered ? &*base.not_covered : nullptr,
                .on_base_samples = on_base_samples ? &*on_base_samples : nullptr};
  change.differences = value_differences(change);
  change.packages = ask_old_packages(base, config, results);
  change.speeds = std::move(speeds);
  change.mutants = std::move(mutants);
  change.least_score = least_score;
  if (!options.bench.empty()) add_speeds(options.bench, libraries_digest(config), head);
  change.kernels_kept = keep_unchecked_devices(base.state, head.state);
  Remarks remarks = judge_change(change);
  apply_waivers(base.waivers.value_or(own_waivers), timestamp().substr(0, kDateLength), change, remarks);
  write_remarks(results.parent_path() / "gate.json", base.name, head, remarks);
  fmt::print("\nbase: {}\nhead: {} of {}\n", base.name, results.string(), head.header.started);
  if (base.run && base.run->defects.size() + head.defects.size() > 0)
    fmt::print("defects: {}\n", defects_beside(*base.run, head));
  if (!options.results.empty()) print_unchecked(head);  // otherwise it is printed under the table
  return print_remarks(remarks, change);
}

std::function<int()> declare(CommandLine& app) {
  app.description(
      "Run everything, compare with the accepted state, and refuse what is worse, with the reasons");
  auto options = std::make_shared<GateOptions>();
  options->run.project.declare(app);
  app.add_option("--op", options->run.filter.ops,
                 "judge only operators with this name; * and ? are wildcards");
  app.add_option("--check", options->run.filter.checks,
                 "judge only checks with this id or group, such as value.layout or value");
  app.add_option("--results", options->results,
                 "results.jsonl of a finished run, to be compared instead of a new run")
      .type_name("FILE");
  app.add_option(
         "--base", options->base,
         "what to compare with instead of the ledger: a run (results.jsonl or its folder), a folder with a "
         "build or a built checkout, or a git commit, which is checked out and built by the command `build` "
         "of opgate.toml")
      .type_name("RUN|FOLDER|COMMIT");
  app.add_option(
         "--ledger-of", options->ledger_of,
         "compare with the ledger of this git commit, and waive by its waivers, instead of those in the "
         "working tree, which the change may have changed")
      .type_name("COMMIT")
      .excludes(app.get_option("--base"));
  app.add_option("--bench", options->bench, "bench.jsonl of `opgate bench`, to compare its speeds as well")
      .type_name("FILE");
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
  return [=] { return gate(*options); };
}

OPGATE_REGISTER_SUBCOMMAND(gate, {"gate", &declare});

}  // namespace
}  // namespace opgate::gate
