// opgate bench: times each operator and its baseline in turns.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/build.h"
#include "base/errors.h"
#include "base/text.h"
#include "bench/bench_file.h"
#include "cli/commands/subcommand.h"
#include "cli/project/project.h"
#include "cli/results/bench_table.h"
#include "cli/terminal/terminal.h"
#include "device/accelerator.h"
#include "process/interrupt.h"
#include "provenance/digests.h"
#include "run/journal.h"
#include "spec/spec.h"

namespace opgate::bench {
namespace {

namespace fs = std::filesystem;

int cores() { return static_cast<int>(std::max(1u, std::thread::hardware_concurrency())); }

struct BenchOptions {
  ProjectOptions project;
  BenchFilter filter;
  std::string device = "all";
  size_t rounds = 0;   // 0: until the verdict is clear
  double seconds = 0;  // 0: until the verdict is clear
  fs::path json;

  Effort effort() const {
    Effort effort;
    if (rounds > 0) effort.rounds = effort.most_rounds = rounds;
    if (seconds > 0) effort.rounds = effort.most_rounds = std::numeric_limits<size_t>::max();
    if (rounds > 0) effort.most_seconds = std::numeric_limits<double>::infinity();
    if (seconds > 0) effort.most_seconds = seconds;
    return effort;
  }
};

BenchFilter filter_of(const BenchOptions& options) {
  BenchFilter filter = options.filter;
  if (options.device != "all") filter.devices = {options.device};
  if (filter.threads.empty()) filter.threads = {1, std::min(2, cores())};
  std::ranges::sort(filter.threads);
  const auto repeated = std::ranges::unique(filter.threads);
  filter.threads.erase(repeated.begin(), repeated.end());
  if (filter.threads.back() > cores()) {
    throw setup_error(
        "--threads {}: this machine has {} cores, and threads that share a core cannot be "
        "timed usefully; choose no more threads than cores",
        filter.threads.back(), cores());
  }
  return filter;
}

// Writes the line of each result before the next case begins, so that an interrupted bench keeps what it
// has measured. Throws Interrupted.
void measure_all(const std::vector<BenchCase>& cases, const Effort& effort, BenchFile& file,
                 BenchResults& results) {
  ProgressLine progress;
  const auto stop_if_interrupted = [] {
    if (interrupted()) throw Interrupted();
  };
  BenchEvents events;
  events.on_round = [&](size_t done, const BenchCase& current) {
    stop_if_interrupted();
    if (progress.is_due())
      progress.show(fmt::format("{:3} % | {}", 100 * done / cases.size(), describe(current)));
  };
  events.on_result = [&](const BenchCase& measured, const BenchResult& result) {
    file.add(measured, result);
    results.emplace_back(measured, result);
    stop_if_interrupted();
  };
  try {
    run_benches(cases, effort, events);
  } catch (...) {
    progress.clear();
    throw;
  }
  progress.clear();
}

void print_results(const BenchResults& results) {
  const std::string findings = format_bench_findings(results);
  fmt::print("\n{}\n{}{}{}\n", format_bench_table(results), findings, findings.empty() ? "" : "\n",
             format_bench_summary(results));
}

int bench(const BenchOptions& options) {
  const BenchFilter filter = filter_of(options);
  const Config config = options.project.read();
  const std::vector<Spec> subjects = open_subjects(options.project);
  const std::vector<BenchCase> cases = plan_benches(subjects, filter);
  const fs::path path = fs::absolute(options.json.empty() ? config.output / "bench.jsonl" : options.json);
  BenchFile file(path, {{"opgate", kVersion},
                        {"engine", engine_digest()},
                        {"torch", kTorchVersion},
                        {"libraries", libraries_digest(config)},
                        {"started", timestamp()},
                        {"cores", cores()},
                        {"cases", cases.size()}});
  fmt::print("OpGate {} · torch {} · {} measurements on {} cores\n", kVersion, kTorchVersion, cases.size(),
             cores());
  std::fflush(stdout);
  watch_signals();
  BenchResults results;
  try {
    measure_all(cases, options.effort(), file, results);
  } catch (const Interrupted&) {
    if (!results.empty()) print_results(results);
    fmt::print(stderr, "opgate: interrupted after {} of {} measurements; they are in {}\n", results.size(),
               cases.size(), path.string());
    return kInterrupted;
  }
  file.finish();
  print_results(results);
  const bool accepted =
      std::ranges::all_of(results, [](const auto& entry) { return entry.second.is_accepted(); });
  return accepted ? kAllKept : kPromiseBroken;
}

std::function<int()> declare(CommandLine& app) {
  app.description(
      "Time each operator and its baseline in turns and compare the ratio with the limit in the spec");
  auto options = std::make_shared<BenchOptions>();
  options->project.declare(app);
  app.get_option("--output")
      .description("folder for bench.jsonl; by default .opgate beside the configuration");
  app.add_option("--op PATTERN", options->filter.ops, "only operators with this name; * and ? are wildcards");
  std::vector<std::string> choices = device_type_names();
  const std::string listed = fmt::format("{} or all", fmt::join(choices, ", "));
  choices.push_back("all");
  app.add_option("--device", options->device, listed).one_of(choices);
  app.add_option("--threads N,...", options->filter.threads,
                 "numbers of intra-op threads to time with on the CPU; by default 1,2")
      .delimiter(',')
      .between(1, 4096);
  app.add_option("--direction", options->filter.directions, "time only the forward or only the backward")
      .one_of({"forward", "backward"});
  const CommandLineOption rounds =
      app.add_option("--rounds N", options->rounds,
                     fmt::format("number of rounds for each measurement, at least {}; by default 31, and up "
                                 "to 248 while the limit lies inside the interval",
                                 kFewestValues))
          .between(static_cast<int>(kFewestValues), 1000000);
  app.add_option("--seconds S", options->seconds,
                 "seconds to spend on each measurement, instead of a number of rounds")
      .between(0.01, 86400.0)
      .excludes(rounds);
  app.add_option("--json FILE", options->json,
                 "file for the results, one line for each; by default bench.jsonl in --output");
  app.footer(
      "A ratio is baseline time / operator time, with its 95 % confidence interval; above 1 the operator is "
      "faster.\n"
      "met: the interval is at or above the limit; missed: it is below the limit; unclear: it contains the "
      "limit.\n"
      "Exit status: 0 no limit missed; 1 a limit missed, a wrong answer, or an operator that raised;\n"
      "2 wrong usage or set-up; 130 interrupted.");
  return [=] { return bench(*options); };
}

OPGATE_REGISTER_SUBCOMMAND(bench, {"bench", &declare});

}  // namespace
}  // namespace opgate::bench
