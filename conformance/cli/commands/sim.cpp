// opgate sim: runs any program with the simulated CUDA devices, and says what they found wrong with it.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <limits>
#include <optional>
#include <set>
#include <stdexcept>

#include <opgate_sim/schedule.h>
#include "base/errors.h"
#include "base/files/scratch_folder.h"
#include "cli/commands/subcommand.h"
#include "cli/results/simulator_findings.h"
#include "cli/simulation/shortest_schedule.h"
#include "cli/simulation/simulated_program.h"
#include "cli/terminal/terminal.h"
#include "device/simulator.h"
#include "process/run_program.h"

namespace opgate::sim {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using simulator::Finding;
using simulator::LaunchSchedule;

struct SimOptions {
  SimulatedProgram program{.tools = tools_that_find(), .program = {}};
  size_t seed = 1;
  std::string schedule;
  int late_stores = -1;  // not given
  int seconds = -1;      // not given
  fs::path report;
};

size_t late_stores_of_first(const SimOptions& options) {
  return options.late_stores < 0 ? 0 : static_cast<size_t>(options.late_stores);
}

// By default. A user who gives the seconds has all of them used.
constexpr std::chrono::seconds kSeconds{10};
// All orders of four blocks.
constexpr size_t kMostSeeds = 24;

// The file must exist for the summary, also where the program never uses a device.
void make_empty(const fs::path& file) {
  std::ofstream stream(file, std::ios::trunc);
  if (!stream) throw setup_error("the report {} cannot be written", file.string());
}

// By the system, if memory runs out, or by a person: what the program would have done is not known. Shells
// give the signal as a status.
bool is_killed(int status) {
  return WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : WEXITSTATUS(status) == 128 + SIGKILL;
}

// A run that ended with another status than the first one.
struct OtherEnd {
  ChosenOrder order;
  int status = 0;
};

struct Runs {
  int status = 0;   // of the first one
  size_t seed = 0;  // of the last one that was not cut short
  size_t late_stores = 0;
  std::optional<size_t> killed;  // the seed of the run that was killed
  SimulatorReport report;
  OrdersOfFindings orders;
  std::optional<OtherEnd> other_end;
};

class Runner {
 public:
  Runner(const SimOptions& options, const fs::path& scratch, fs::path file)
      : options_(options),
        tools_(options.program.tools.begin(), options.program.tools.end()),
        output_(scratch / "output"),
        other_file_(scratch / "other.jsonl"),
        file_(std::move(file)) {
    const bool is_once = !tools_.contains("race") || !options.schedule.empty();
    budget_ = is_once               ? std::chrono::seconds(0)
              : options.seconds < 0 ? kSeconds
                                    : std::chrono::seconds(options.seconds);
  }

  // Runs the program once as it is. As long as nothing is found and the seconds last, it runs again with
  // further seeds, without input and output, and only if one more run is likely to end in time.
  Runs run() {
    const Clock::time_point begin = Clock::now();
    Runs runs;
    runs.seed = options_.seed;
    runs.late_stores = late_stores_of_first(options_);
    const ChosenOrder first{runs.seed, options_.schedule, runs.late_stores};
    runs.status = run_here(command_of(options_.program, first, file_));
    time_of_one_ = Clock::now() - begin;
    end_ = begin + time_of_one_ + budget_;
    runs.report = read_simulator_report(file_, tools_);
    if (is_killed(runs.status)) runs.killed = runs.seed;
    while (may_go_on(runs)) {
      if (runs.seed == options_.seed)
        fmt::print(
            stderr,
            "\nopgate sim: nothing found with seed {}; the program runs again with further seeds, without "
            "its output (--seconds 0: it runs once)\n",
            runs.seed);
      const ChosenOrder order{runs.seed + 1, "", late_stores_with(runs.seed + 1)};
      const Clock::time_point begin_of_run = Clock::now();
      const int status = run_again(order, file_);
      runs.report = read_simulator_report(file_, tools_);
      if (is_killed(status) && runs.report.findings.empty()) {
        // The limit ends what takes too long.
        if (Clock::now() - begin_of_run < limit()) runs.killed = order.seed;
        break;
      }
      if (status != 0 && !runs.other_end) runs.other_end = OtherEnd{order, status};
      runs.seed = order.seed;
      runs.late_stores = order.late_stores;
    }
    end_ = Clock::now() + budget_;
    if (runs.seed != options_.seed) look_for_short_schedules(runs);
    if (runs.other_end) settle_other_end(runs.other_end);
    return runs;
  }

 private:
  bool may_go_on(const Runs& runs) const {
    return runs.status == 0 && runs.report.processes > 0 && runs.report.findings.empty() && has_time() &&
           (options_.seconds >= 0 || runs.seed + 1 < options_.seed + kMostSeeds);
  }

  // Every second of the further seeds.
  size_t late_stores_with(size_t seed) const {
    return options_.late_stores >= 0       ? late_stores_of_first(options_)
           : seed % 2 == options_.seed % 2 ? seed
                                           : 0;
  }

  bool has_time() const { return Clock::now() + time_of_one_ < end_; }

  // For each run but the first one.
  std::chrono::seconds limit() const { return std::max(std::chrono::seconds(1), budget_); }

  int run_again(const ChosenOrder& order, const fs::path& report) const {
    return run_to_end(command_of(options_.program, order, report), fs::current_path(), output_,
                      Errors::logged, limit());
  }

  bool shows(const Finding& finding, const ChosenOrder& order) const {
    if (!has_time()) return false;
    make_empty(other_file_);
    run_again(order, other_file_);
    return std::ranges::any_of(read_simulator_report(other_file_, tools_).findings,
                               [&](const Finding& other) { return place_of(finding) == place_of(other); });
  }

  // A program that needs its input, may not run twice or was killed because it took long ends otherwise for
  // reasons of its own. Late stores are the reason only if the program does not end so without them.
  void settle_other_end(std::optional<OtherEnd>& end) const {
    const auto ends_with = [&](const ChosenOrder& order, int status) {
      return has_time() && run_again(order, other_file_) == status;
    };
    ChosenOrder& order = end->order;
    if (is_killed(end->status) || !ends_with({options_.seed, "", late_stores_of_first(options_)}, 0)) {
      end.reset();
      return;
    }
    if (options_.late_stores < 0 && order.late_stores != 0 && ends_with({order.seed}, end->status))
      order.late_stores = 0;
    if (!ends_with(order, end->status)) end.reset();
  }

  // For each finding in turn, as long as the seconds last.
  void look_for_short_schedules(Runs& runs) const {
    for (size_t i = 0; i < runs.report.findings.size(); ++i)
      runs.orders[i] = order_of(runs.report.findings[i], runs);
  }

  // Most findings need no late stores, and those that do keep them in all that is shorter.
  OrderOfFinding order_of(const Finding& finding, const Runs& runs) const {
    const size_t given = late_stores_of_first(options_);
    if (shows(finding, {0, "", given})) return {"blocks and warps go by index", command_that({0, "", given})};
    size_t late = runs.late_stores;
    if (late != given && shows(finding, {runs.seed, "", given})) late = given;
    const std::string seen_late = late == 0 ? "" : "; stores become visible late";
    if (late != given && shows(finding, {0, "", late}))
      return {"blocks and warps go by index" + seen_late, command_that({0, "", late})};
    if (finding.schedule.empty()) return {"", command_that({runs.seed, "", late})};
    const LaunchSchedule seen = simulator::schedule_from_text(finding.schedule).front();
    const auto shortest = shortest_schedule(seen, finding, [&](const LaunchSchedule& part) {
      return shows(finding, {0, simulator::to_text({part}), late});
    });
    if (!shortest) return {"", command_that({runs.seed, "", late})};
    return {simulator::in_plain_words(*shortest) + seen_late,
            command_that({0, simulator::to_text({*shortest}), late})};
  }

  std::string command_that(const ChosenOrder& order) const {
    return command_that_repeats(options_.program, order);
  }

  const SimOptions& options_;
  std::set<std::string> tools_;
  fs::path output_;
  fs::path other_file_;  // for runs that look for a shorter schedule
  fs::path file_;
  std::chrono::seconds budget_{};
  Clock::duration time_of_one_{};
  Clock::time_point end_;
};

std::string summary(const SimOptions& options, const Runs& runs) {
  const SimulatorReport& report = runs.report;
  if (runs.killed == options.seed && report.findings.empty())
    return "the program was killed, so that nothing is known of what it does on the devices";
  if (report.processes == 0)
    return "the program used no CUDA device: it called nothing of libcudart.so.12 or libcudart.so.13. A "
           "program with a runtime of its own is linked for this with -cudart shared";
  const bool several = runs.seed != options.seed;
  if (report.findings.empty())
    return several ? fmt::format("nothing found with the seeds {} to {}", options.seed, runs.seed)
                   : "nothing found";
  return fmt::format("{} finding{}{}", report.findings.size(), report.findings.size() == 1 ? "" : "s",
                     several ? fmt::format(" with --seed {}", runs.seed) +
                                   (runs.late_stores == 0 || options.late_stores >= 0
                                        ? ""
                                        : fmt::format(" --late-stores {}", runs.late_stores))
                             : "");
}

// A program that has ended otherwise with a further seed, each time it was tried.
std::string describe(const OtherEnd& end, const SimOptions& options) {
  const size_t late = end.order.late_stores;
  if (late == 0 || options.late_stores >= 0)
    return fmt::format(
        "the program ended with {} with --seed {}, and with 0 with --seed {}, each of them twice: its result "
        "may depend on the order of blocks\n",
        ending(end.status), end.order.seed, options.seed);
  return fmt::format(
      "the program ended with {} with --seed {} if stores became visible to other blocks late, and with 0 "
      "with --seed {}, each of them twice: its result may depend on a fence that is missing\n   repeat   "
      "{}\n",
      ending(end.status), end.order.seed, options.seed, command_that_repeats(options.program, end.order));
}

// Refuses what cannot be followed, whatever the program does. The same text as launches report.
std::vector<std::string> parts_of_schedule(const SimOptions& options) {
  std::vector<std::string> parts;
  if (options.schedule.empty()) return parts;
  try {
    for (const LaunchSchedule& launch : simulator::schedule_from_text(options.schedule)) {
      if (!launch.warps.empty() && tools_that_watch(options.program.tools).empty())
        throw std::runtime_error("warps have an order only if a tool watches kernels");
      parts.push_back(simulator::to_text({launch}));
    }
  } catch (const std::runtime_error& error) {
    throw setup_error("--schedule '{}': {}", options.schedule, error.what());
  }
  return parts;
}

// Before the program begins.
void refuse_unknown_revision(const std::string& revision, const fs::path& log) {
  const Command command{{"git", "rev-parse", "--verify", "--quiet", revision + "^{commit}"}, {}};
  if (run_to_end(command, fs::current_path(), log, Errors::logged) != 0)
    throw setup_error("--changed-since {}: git knows no such commit in {}", revision,
                      fs::current_path().string());
}

int sim(const SimOptions& options) {
  if (const auto missing = missing_simulator()) throw SetupError(*missing);
  const std::vector<std::string> parts = parts_of_schedule(options);
  const ScratchFolder scratch("opgate-sim");
  if (!options.program.changed_since.empty())
    refuse_unknown_revision(options.program.changed_since, scratch.folder() / "git");
  const fs::path file =
      options.report.empty() ? scratch.folder() / "report.jsonl" : fs::absolute(options.report);
  make_empty(file);
  const Runs runs = Runner(options, scratch.folder(), file).run();
  const std::string ended =
      runs.status == 0 ? "" : fmt::format("; the program ended with {}", ending(runs.status));
  fmt::print(stderr, "\nopgate sim: {}{}\n{}", summary(options, runs), ended,
             describe(runs.report, runs.orders));
  if (runs.other_end) fmt::print(stderr, "{}", describe(*runs.other_end, options));
  if (runs.killed) {
    fmt::print(stderr,
               "with --seed {}, the program was killed (SIGKILL): what it would have done is not known; the "
               "system kills programs that use too much memory\n",
               *runs.killed);
    return kUsageOrSetup;
  }
  if (WIFSIGNALED(runs.status)) return 128 + WTERMSIG(runs.status);
  if (WEXITSTATUS(runs.status) != 0) return WEXITSTATUS(runs.status);
  bool is_followed = true;
  for (const std::string& part : parts) {
    if (runs.report.followed.contains(part)) continue;
    fmt::print(stderr, "no launch of the program is that of the schedule `{}`\n", part);
    is_followed = false;
  }
  if (!is_followed) return kUsageOrSetup;
  return runs.report.findings.empty() ? kAllKept : kPromiseBroken;
}

std::function<int()> declare(CommandLine& app) {
  app.description(
      "Run a program with simulated CUDA devices instead of GPUs, and say what is wrong with what it "
      "does on them: accesses outside of allocations, of unwritten memory or without order, barriers that "
      "not all threads reach, and CUDA functions that fail, with the kernel, block, thread and line");
  app.footer(
      "Exit status: 2 where the program was killed, its own where it is not 0, otherwise 1 where something "
      "was found; 2 wrong usage or set-up.");
  auto options = std::make_shared<SimOptions>();
  app.add_option(
         "-t,--tool TOOL,...", options->program.tools,
         "what is looked for; by default all but traffic, which counts what loads and stores cost by line")
      .delimiter(',')
      .one_of(tools_to_choose());
  app.add_option("--arch", options->program.architecture, "the compute capability without its dot")
      .one_of({"80", "86", "89", "90", "100", "120"})
      .shows_default();
  app.add_option("--devices", options->program.devices, "how many devices there are")
      .between(1, 8)
      .shows_default();
  const auto seed =
      app.add_option("--seed", options->seed, "of the order in which blocks run; 0: by their indices")
          .shows_default();
  app.add_option("--late-stores SEED", options->late_stores,
                 "seed of how late stores of a block become visible to other blocks, so that a missing fence "
                 "shows in results; 0: at once; by default, every second further seed has them")
      .between(0, std::numeric_limits<int>::max());
  app.add_option("--schedule TEXT", options->schedule,
                 "which blocks and warps of a launch go first, as a finding names them, instead of a "
                 "seed: \"launch 2 of twice: blocks 3 1 and warps 1 of block 0\". The program runs once")
      .excludes(seed);
  app.add_option(
         "--seconds", options->seconds,
         "while nothing is found, the program runs again with further seeds, without its output, for as "
         "many seconds as this; after a finding, for as many again to find the shortest schedule that shows "
         "it; by default for 10, and with at most 24 seeds; 0: it runs once")
      .between(0, 86400);
  app.add_option("--streams", options->program.streams,
                 "whether operations run as late as their stream allows, or as soon as they are issued")
      .one_of({"late", "early"})
      .shows_default();
  app.add_option(
         "--autotune", options->program.autotune,
         "which configurations of a kernel of Triton run: the first that works, which a line of the output "
         "names, or all, on the inputs of its calls; a test of pytest fails if it fails with one of them")
      .one_of({"first", "all"})
      .shows_default();
  app.add_option(
      "--changed-since REV", options->program.changed_since,
      "run only tests of pytest that reach a kernel of Triton which has changed since this commit, "
      "by what `recorded/kernels_of_tests.jsonl` knows from earlier runs with this option; tests "
      "of which it does not know this run, too");
  app.add_option("--memory SIZE", options->program.memory,
                 "how much of the machine's memory a process of the program may take, such as 6G; a test of "
                 "pytest that needs more is owed; by default 85 % of what the machine has")
      .size();
  app.add_flag(
      "--ptxas", options->program.uses_ptxas,
      "have ptxas compile each kernel of Triton, too, which reports what it refuses; it takes longer "
      "than all else that compiles a kernel");
  app.add_option("--report FILE", options->report,
                 "also keep what was found in this file, a line of JSON each");
  app.takes_program(options->program.program);
  return [=] { return sim(*options); };
}

OPGATE_REGISTER_SUBCOMMAND(sim, {"sim", &declare});

}  // namespace
}  // namespace opgate::sim
