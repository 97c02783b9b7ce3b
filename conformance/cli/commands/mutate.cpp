// opgate mutate: scores specs by the mutants of the operators' sources that they notice.
#include <fmt/format.h>
#include <opgate/error.h>

#include <chrono>
#include <fstream>

#include "base/text.h"
#include "cli/commands/subcommand.h"
#include "cli/project/mutated_build.h"
#include "cli/project/project.h"
#include "cli/project/run_cases.h"
#include "cli/results/mutation_report.h"
#include "cli/terminal/terminal.h"
#include "mutation/equivalent_mutants.h"
#include "mutation/mutation_run.h"
#include "process/interrupt.h"
#include "process/mutants.h"
#include "process/run_program.h"
#include "run/python/programs.h"

namespace opgate::mutate {
namespace {

namespace fs = std::filesystem;
using std::chrono::steady_clock;

// A mutant often never ends.
constexpr int64_t kNativeSeconds = 5;
constexpr int64_t kPythonSeconds = 20;
constexpr double kAsConfigured = -1;  // no percentage was given on the command line

struct MutateOptions {
  ProjectOptions project;
  Filter filter;
  bool no_simulator = false;
  ExecutionOptions execution;
  MutantChoice choice;
  size_t native_calls = 300;
  size_t python_cases = 60;
  bool slow = false;
  bool verbose = false;
  double least = kAsConfigured;
};

void print_begin(const MutatedBuild& built, const std::vector<std::string>& broken) {
  fmt::print("{} in {}", counted(built.mutants.size(), "mutant"), counted(built.sources, "source"));
  if (!built.refused.empty()) fmt::print("; {} more do not compile", built.refused.size());
  fmt::print("\n");
  size_t lines = 0;
  for (const auto& [file, numbers] : built.not_understood) lines += numbers.size();
  if (lines > 0) {
    fmt::print("{} in {} are no C++ before the preprocessor has run; they have no mutants\n",
               counted(lines, "line"), counted(built.not_understood.size(), "file"));
  }
  if (!broken.empty()) {
    fmt::print("{} without a mutant, so that {} no mutant, such as {}\n",
               broken.size() == 1 ? "1 case fails" : fmt::format("{} cases fail", broken.size()),
               broken.size() == 1 ? "it judges" : "they judge", broken.front());
  }
  std::fflush(stdout);
}

// Python packages that load a library themselves find the one with mutants by such a variable, if one was
// built.
void set_variables(const MutationRecipe& recipe, const MutatedBuild& built) {
  constexpr std::string_view kCopy = "{copy}";
  const std::string copy = built.copy.string();
  for (auto [name, value] : recipe.environment) {
    if (!built.in_libraries && value.find(kCopy) != std::string::npos) continue;
    for (size_t at = value.find(kCopy); at != std::string::npos; at = value.find(kCopy, at))
      value.replace(at, kCopy.size(), copy);
    setenv(name.c_str(), value.c_str(), /*overwrite=*/1);
  }
}

// Notes for each survivor what slow checks find. Returns false if it was interrupted.
bool ask_slow_checks(MutationRun& run, std::vector<MutantResult>& results) {
  std::vector<Mutant> survivors;
  for (const MutantResult& result : results) {
    if (result.fate == Fate::survived) survivors.push_back(result.mutant);
  }
  if (survivors.empty()) return true;
  ProgressLine line;
  size_t asked = 0;
  line.show(fmt::format("slow checks judge {}", counted(survivors.size(), "survivor")));
  const bool finished = run.ask_slow_checks(survivors, [&](const MutantResult& judged) {
    line.show(fmt::format("slow checks have judged {} of {} survivors", ++asked, survivors.size()));
    if (judged.fate != Fate::killed) return;
    const auto of = std::ranges::find_if(
        results, [&](const MutantResult& each) { return each.mutant.number == judged.mutant.number; });
    of->killer = judged.killer;
    of->how = judged.how;
    of->found = judged.found;
  });
  line.clear();
  return finished;
}

// A line for each mutant. While they run, the lines are in the order in which the mutants end, without what
// slow checks find.
void write_lines(const fs::path& file, const std::vector<MutantResult>& results) {
  std::ofstream lines(file);
  for (const MutantResult& result : results) lines << mutant_line(result) << '\n';
}

// The files of operators that --op leaves out. Another process reads the libraries, because this one loads
// those with mutants.
std::set<std::string> files_of_others(const MutateOptions& options, const Config& config) {
  if (options.filter.ops.empty()) return {};
  std::vector<std::string> words{
      this_program(config).opgate, "list", "others", "--config", config.file, "--output", config.output};
  if (!options.project.build.empty())
    words.insert(words.end(), {"--build", fs::absolute(options.project.build)});
  words.emplace_back("--op");
  words.insert(words.end(), options.filter.ops.begin(), options.filter.ops.end());
  const fs::path list = config.output / "others.txt";
  if (!has_succeeded(run_to_end({words}, config.file.parent_path(), list, Errors::shown)))
    throw SetupError("which sources belong to the operators of --op is not known; the reason is above");
  std::set<std::string> files;
  std::ifstream lines(list);
  for (std::string file; std::getline(lines, file);) files.insert(file);
  return files;
}

// Lets workers find mutants in Python modules and in PTX; see python/opgate/mutation/running.py and
// process/ptx_mutants.h.
void announce(const MutatedBuild& built) {
  for (const auto& [name, value] : built.environment) setenv(name.c_str(), value.c_str(), 1);
  if (!built.in_libraries) setenv(kNoMutantsInLibraries, "1", 1);
}

int mutate(MutateOptions options) {
  const auto start = steady_clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(steady_clock::now() - start).count(); };
  const Config config = options.project.read();
  const EquivalentMutants equivalent(config.mutation.equivalent);
  options.choice.devices = options.filter.devices;
  options.choice.of_others = files_of_others(options, config);
  const MutatedBuild built = build_mutants(config, options.choice);
  const double build_seconds = seconds();
  if (built.mutants.empty() && !options.choice.diff.empty()) {  // a change of comments, documents or tests
    write_lines(mutants_file(config.output), {});
    fmt::print("the lines that differ from {} have no mutants\n", options.choice.diff);
    return kAllKept;
  }

  set_variables(config.mutation, built);
  announce(built);
  options.project.build = built.libraries;
  Project project = open_project(options.project, options.execution.limits());
  Filter filter = options.filter;
  choose_simulator(filter, options.no_simulator);
  const Plan plan = make_plan(project.subjects, project.checks, filter);
  const MutationEffort effort{options.execution.jobs, options.native_calls, options.python_cases,
                              options.slow};
  MutationRun run(project.workers, *project.python, plan, filter, effort);
  ProgressLine line;
  const auto broken = run.find_reached([&](size_t done, size_t all) {
    if (line.is_due()) line.show(fmt::format("{} of {} cases without a mutant", done, all));
  });
  line.clear();
  if (!broken) throw Interrupted();
  print_begin(built, *broken);
  const double reached_seconds = seconds();

  const fs::path file = mutants_file(config.output);
  std::ofstream lines(file);
  std::vector<MutantResult> results;
  size_t survived = 0;
  bool finished = run.run(built.mutants, [&](MutantResult result) {
    if (result.fate == Fate::survived) {
      if (const auto why = equivalent.why(result.mutant)) {
        result.fate = Fate::equivalent;
        result.because = *why;
      }
    }
    survived += result.fate == Fate::survived;
    lines << mutant_line(result) << '\n' << std::flush;
    results.push_back(std::move(result));
    if (line.is_due())
      line.show(fmt::format("{} of {} mutants, {} survived", results.size(), built.mutants.size(), survived));
  });
  line.clear();
  std::ranges::sort(results, {}, [](const MutantResult& each) { return each.mutant.number; });
  finished = finished && ask_slow_checks(run, results);
  lines.close();
  write_lines(file, results);
  const MutationScore score = print_mutants(results, options.verbose);
  if (!finished) {
    fmt::print(stderr, "opgate: interrupted after {} of {} mutants; their fates are in {}\n", results.size(),
               built.mutants.size(), file.string());
    throw Interrupted();
  }
  fmt::print(
      "\n{:.1f} % of {} that are reached are noticed: {} killed, {} survived, {} equivalent, {} not reached; "
      "in {:.0f} s ({:.0f} s to build, {:.0f} s to find what reaches them)\n",
      score.percent(), counted(score.killed + score.survived, "mutant"), score.killed, score.survived,
      score.equivalent, score.not_reached, seconds(), build_seconds, reached_seconds - build_seconds);
  if (score.refused > 0)
    fmt::print("{} by Triton\n", score.refused == 1
                                     ? "1 mutant is not compiled"
                                     : fmt::format("{} mutants are not compiled", score.refused));
  const bool configured = options.least == kAsConfigured;
  const double least = configured ? config.mutation.least : options.least;
  if (score.percent() >= least) return kAllKept;
  fmt::print("the score is below {} %, which {} asks for\n", least,
             configured ? "mutation.least of opgate.toml" : "--least");
  return kPromiseBroken;
}

std::function<int()> declare(CommandLine& app) {
  app.description(
      "Score the specs: small mistakes are made in the operators' sources, all in one build, and each is run "
      "under the checks of the calls that reach it, until a case notices it. What no case notices is shown "
      "as a diff");
  app.footer(
      "Exit status: 0 the score is at least that of --least, 1 it is below, 2 wrong usage or set-up, 130 "
      "interrupted.");
  auto options = std::make_shared<MutateOptions>();
  options->execution.seconds = kNativeSeconds;
  options->execution.python_seconds = kPythonSeconds;
  app.add_option("SOURCE", options->choice.sources,
                 "files or folders whose code is changed, relative to opgate.toml; by default its "
                 "mutation.sources");
  options->project.declare(app);
  declare_filter(app, options->filter);
  declare_no_simulator(app, options->no_simulator);
  options->execution.declare(app);
  app.add_option("--without PATTERN", options->choice.without,
                 "files that are left alone, besides those of mutation.without; * and ? are wildcards");
  app.add_option("--kind KIND", options->choice.kinds, "only mutants of this kind, such as comparison");
  app.add_option("--diff REVISION", options->choice.diff,
                 "only mutants of lines that differ from those of this git revision, such as main");
  app.add_option("--most N", options->choice.most, "at most N mutants, drawn at random; by default all")
      .between(0, 1 << 30);
  app.add_option("--seed N", options->choice.seed, "of that draw");
  app.add_option("--native-calls N", options->native_calls,
                 "native calls by which a mutant is judged at first, evenly chosen from those that reach it")
      .between(1, 1 << 30)
      .shows_default();
  app.add_option("--python-cases N", options->python_cases,
                 "cases of the Python half by which a mutant is judged, evenly chosen from all its checks")
      .between(0, 1 << 30)
      .shows_default();
  app.add_flag("--slow", options->slow, "also ask checks that take seconds, such as opcheck.schema");
  app.add_option("--least PERCENT", options->least,
                 "exit with status 1 if the score is below PERCENT; by default mutation.least of opgate.toml")
      .between(0.0, 100.0);
  app.add_flag("-v,--verbose", options->verbose, "also list the mutants that no case reaches");
  return [=] { return mutate(*options); };
}

OPGATE_REGISTER_SUBCOMMAND(mutate, {"mutate", &declare});

}  // namespace
}  // namespace opgate::mutate
