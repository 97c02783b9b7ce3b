// opgate sim: runs any program with the simulated CUDA devices, and says what they found wrong with it.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <opgate/error.h>
#include <sys/wait.h>

#include <chrono>
#include <fstream>
#include <set>

#include "base/scratch_folder.h"
#include "cli/commands/subcommand.h"
#include "cli/results/simulator_findings.h"
#include "cli/terminal/terminal.h"
#include "device/simulator.h"
#include "process/python_startup.h"
#include "process/run_program.h"

namespace opgate::sim {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kTools = {"memory", "api", "init", "race", "sync", "stream"};

// Of these, the device finds the first two in any case.
std::vector<std::string> that_watch(const std::vector<std::string>& tools) {
  std::vector<std::string> watching;
  for (const std::string& tool : tools)
    if (tool != "memory" && tool != "api") watching.push_back(tool);
  return watching;
}

struct SimOptions {
  std::vector<std::string> tools = kTools;
  std::string architecture = "90";
  size_t devices = 2;
  size_t seed = 1;
  int seconds = 10;
  std::string streams = "late";
  fs::path report;
  std::vector<std::string> program;
};

// The file must exist for the summary, also where the program never uses a device.
void make_empty(const fs::path& file) {
  std::ofstream stream(file, std::ios::trunc);
  if (!stream) throw SetupError(fmt::format("the report {} cannot be written", file.string()));
}

Command command_with(const SimOptions& options, size_t seed, const fs::path& report) {
  Command command{options.program, simulator_environment()};
  command.environment["PYTHONPATH"] = python_path_with_startup();
  command.environment["OPGATE_SIM_REPORT"] = report.string();
  command.environment["OPGATE_SIM_TOOLS"] = fmt::format("{}", fmt::join(that_watch(options.tools), ","));
  command.environment["OPGATE_SIM_ARCH"] = options.architecture;
  command.environment["OPGATE_SIM_DEVICES"] = std::to_string(options.devices);
  command.environment["OPGATE_SIM_SHUFFLE"] = std::to_string(seed);
  command.environment["OPGATE_SIM_RECOVER"] = "1";
  command.environment["OPGATE_SIM_EAGER"] = options.streams == "early" ? "1" : "0";
  return command;
}

// A program that begins its blocks in one order may hide a race that another order shows.
constexpr size_t kMostSeeds = 8;

struct Runs {
  int status = 0;   // of the first one
  size_t seed = 0;  // of the last one
  SimulatorReport report;
};

// Runs the program once as it is. As long as nothing is found and the seconds last, it runs again with
// further seeds, without input and output, and only if one more run is likely to end in time.
Runs run_with_seeds(const SimOptions& options, const fs::path& file, const fs::path& output) {
  using Clock = std::chrono::steady_clock;
  const std::set<std::string> tools{options.tools.begin(), options.tools.end()};
  const Clock::time_point begin = Clock::now();
  Runs runs{run_here(command_with(options, options.seed, file)), options.seed, {}};
  const Clock::time_point end_of_first = Clock::now();
  runs.report = read_simulator_report(file, tools);
  const std::chrono::seconds budget(tools.contains("race") ? options.seconds : 0);
  while (runs.status == 0 && runs.report.processes > 0 && runs.report.findings.empty() &&
         runs.seed + 1 < options.seed + kMostSeeds &&
         (Clock::now() - end_of_first) + (end_of_first - begin) < budget) {
    if (runs.seed == options.seed)
      fmt::print(
          stderr,
          "\nopgate sim: nothing found with seed {}; the program runs again with further seeds, without "
          "its output (--seconds 0: it runs once)\n",
          runs.seed);
    ++runs.seed;
    run_to_end(command_with(options, runs.seed, file), fs::current_path(), output, Errors::logged, budget);
    runs.report = read_simulator_report(file, tools);
  }
  return runs;
}

std::string summary(const SimOptions& options, const Runs& runs) {
  const SimulatorReport& report = runs.report;
  if (report.processes == 0)
    return "the program used no CUDA device: it called nothing of libcudart.so.13. A program with a runtime "
           "of its own is "
           "linked for this with -cudart shared";
  const bool several = runs.seed != options.seed;
  if (report.findings.empty())
    return several ? fmt::format("nothing found with the seeds {} to {}", options.seed, runs.seed)
                   : "nothing found";
  return fmt::format("{} finding{}{}", report.findings.size(), report.findings.size() == 1 ? "" : "s",
                     several ? fmt::format(" with --seed {}", runs.seed) : "");
}

int sim(const SimOptions& options) {
  if (const auto missing = missing_simulator()) throw SetupError(*missing);
  const ScratchFolder scratch("opgate-sim");
  const fs::path file =
      options.report.empty() ? scratch.folder() / "report.jsonl" : fs::absolute(options.report);
  make_empty(file);
  const Runs runs = run_with_seeds(options, file, scratch.folder() / "output");
  const std::string ended =
      runs.status == 0 ? "" : fmt::format("; the program ended with {}", ending(runs.status));
  fmt::print(stderr, "\nopgate sim: {}{}\n{}", summary(options, runs), ended, describe(runs.report));
  if (WIFSIGNALED(runs.status)) return 128 + WTERMSIG(runs.status);
  if (WEXITSTATUS(runs.status) != 0) return WEXITSTATUS(runs.status);
  return runs.report.findings.empty() ? kAllKept : kPromiseBroken;
}

std::function<int()> declare(CommandLine& app) {
  app.description(
      "Run a program with simulated CUDA devices in the place of GPUs, and say what is wrong with what it "
      "does on them: accesses outside of allocations, of unwritten memory or without order, barriers that "
      "not all threads reach, and CUDA functions that fail, with the kernel, block, thread and line");
  app.footer(
      "Exit status: the program's own where it is not 0, otherwise 1 where something was found; 2 wrong "
      "usage or set-up.");
  auto options = std::make_shared<SimOptions>();
  app.add_option("-t,--tool", options->tools, "what is looked for; by default all of it")
      .delimiter(',')
      .one_of(kTools)
      .type_name("TOOL,...");
  app.add_option("--arch", options->architecture, "the compute capability without its dot")
      .one_of({"80", "86", "89", "90", "100", "120"})
      .shows_default();
  app.add_option("--devices", options->devices, "how many devices there are").between(1, 8).shows_default();
  app.add_option("--seed", options->seed, "of the order in which blocks run; 0: by their indices")
      .shows_default();
  app.add_option(
         "--seconds", options->seconds,
         "while nothing is found, the program runs again with further seeds, without its output, for as "
         "many seconds as this; 0: it runs once")
      .between(0, 86400)
      .shows_default();
  app.add_option("--streams", options->streams,
                 "whether operations run as late as their stream allows, or as soon as they are issued")
      .one_of({"late", "early"})
      .shows_default();
  app.add_option("--report", options->report, "also keep what was found in this file, a line of JSON each")
      .type_name("FILE");
  app.takes_program(options->program);
  return [=] { return sim(*options); };
}

OPGATE_REGISTER_SUBCOMMAND(sim, {"sim", &declare});

}  // namespace
}  // namespace opgate::sim
