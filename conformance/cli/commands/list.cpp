// opgate list ops|checks|cases|tests|sources|others|coverage: lists what a run would cover, without running
// any of it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/dtypes.h"
#include "base/errors.h"
#include "cli/commands/subcommand.h"
#include "cli/project/coverage_table.h"
#include "cli/project/project.h"
#include "cli/project/run_cases.h"
#include "cli/terminal/terminal.h"
#include "plan/patterns.h"
#include "provenance/files_of_operators.h"
#include "provenance/source_digests.h"
#include "spec/spec.h"

namespace opgate::list {
namespace {

bool chooses(const Filter& filter) {
  return !filter.ops.empty() || !filter.checks.empty() || !filter.devices.empty() || filter.chooses_cases();
}

// The operators and checks that have a case in a filtered plan.
struct Chosen {
  explicit Chosen(const Plan& plan) {
    for (Calls::Position call = 0; call < plan.calls.size(); ++call) {
      ops.emplace(&plan.calls.spec(call), plan.calls.device(call));
      const CheckList of_call = plan.calls.checks(call);
      checks.insert(of_call.begin(), of_call.end());
    }
  }
  std::set<std::pair<const Spec*, c10::DeviceType>> ops;
  std::set<const Check*> checks;
};

void list_ops(const Project& project, const std::optional<Chosen>& chosen) {
  for (const Spec& spec : project.subjects) {
    for (const auto& [device, dtypes] : spec.dtypes) {
      if (chosen && !chosen->ops.contains({&spec, device})) continue;
      std::vector<std::string_view> names;
      for (const c10::ScalarType dtype : dtypes) names.push_back(dtype_name(dtype));
      fmt::print("{:20} {:5} {} samples  {}  {}\n", spec.id, device_name(device), spec.samples.size(),
                 fmt::join(names, " "), spec.name);
    }
  }
}

void list_checks(const Project& project, const std::optional<Chosen>& chosen) {
  for (const Check& check : project.checks) {
    if (chosen && !chosen->checks.contains(&check)) continue;
    fmt::print("{:18} {:7} {}\n", check.name, to_string(check.worker), check.explanation.promise);
  }
}

void list_cases(const Plan& plan, const ShardOptions& part) {
  const ShardAssignment cut = part.cut(plan.calls);
  for (Calls::Position position = 0; position < plan.calls.size(); ++position) {
    if (!cut.holds(position)) continue;
    const PlannedCall call = plan.calls[position];
    for (const Check* check : call.checks) fmt::print("{}\n", case_id(call, *check));
  }
}

// Prints one test for each operator, check group and device, for build systems: OP GROUP DEVICE WORKER
// CASES.
void list_tests(const Plan& plan) {
  std::map<std::string, size_t> tests;
  for (Calls::Position call = 0; call < plan.calls.size(); ++call) {
    for (const Check* check : plan.calls.checks(call)) {
      ++tests[fmt::format("{} {} {} {}", plan.calls.spec(call).id, check->group(),
                          plan.calls.device_name(call), to_string(plan.calls.worker(call, *check)))];
    }
  }
  for (const auto& [test, cases] : tests) fmt::print("{} {}\n", test, cases);
}

std::vector<std::string> libraries_of(const Config& config) {
  std::vector<std::string> libraries;
  for (const auto& names : {config.libraries, config.specs}) {
    for (const std::string& name : names) libraries.push_back(config.find_library(name));
  }
  return libraries;
}

void demand_ops(const Project& project, const std::vector<std::string>& ops) {
  Names names;
  for (const Spec& spec : project.subjects) names[spec.id] = spec.name;
  demand_matches("op", ops, names);
}

bool is_chosen(const Spec& spec, const std::vector<std::string>& ops) {
  return selects(ops, spec.id) || selects(ops, spec.name);
}

// Prints a digest of each operator's sources, from which `opgate watch` knows the operators that a changed
// file belongs to; "-" if the sources are unknown.
void list_sources(const Project& project, const std::vector<std::string>& ops) {
  demand_ops(project, ops);
  SourceDigests digests(project.config, libraries_of(project.config), project.subjects);
  for (const Spec& spec : project.subjects) {
    if (!is_chosen(spec, ops)) continue;
    const std::string digest = digests.of(spec);
    fmt::print("{} {}\n", digest.empty() ? "-" : digest, spec.id);
  }
}

// Prints the files that `opgate mutate` leaves alone where it is asked for these operators.
void list_others(const Project& project, const std::vector<std::string>& ops) {
  demand_ops(project, ops);
  std::vector<bool> chosen;
  for (const Spec& spec : project.subjects) chosen.push_back(is_chosen(spec, ops));
  for (const std::string& file : files_of_others(project.config, libraries_of(project.config),
                                                 project.subjects, project.registered, chosen))
    fmt::print("{}\n", file);
}

int list(const ProjectOptions& options, Filter filter, bool no_simulator, const ShardOptions& part,
         const std::string& what) {
  if (!part.shard.empty() && what != "cases")
    throw setup_error("--shard is for `opgate list cases` only; {} are not divided into shards", what);
  if ((what == "sources" || what == "others") && (!filter.devices.empty() || filter.chooses_cases()))
    throw setup_error("`opgate list {}` cannot be filtered by --device or --case; choose operators with --op",
                      what);
  if (what == "coverage" && (!filter.devices.empty() || filter.chooses_cases() || !filter.checks.empty()))
    throw SetupError("`opgate list coverage` can only be filtered by --op: it lists what operators have");
  choose_simulator(filter, no_simulator);
  static_cast<void>(part.read());  // a wrong --shard is reported before the wait for Python
  const Project project = open_project(options, default_limits(), what == "sources" ? &filter : nullptr);
  std::optional<Chosen> chosen;
  if (chooses(filter) && (what == "ops" || what == "checks"))
    chosen.emplace(make_plan(project.subjects, project.checks, filter));
  end_where_nobody_reads();
  if (what == "ops") list_ops(project, chosen);
  if (what == "checks") list_checks(project, chosen);
  if (what == "coverage")
    fmt::print("{}",
               coverage_table(project,
                              project.subjects.empty() ? Plan() : make_plan(project.subjects, project.checks),
                              filter.ops));
  if (what == "sources") list_sources(project, filter.ops);
  if (what == "others") list_others(project, filter.ops);
  if (what == "cases") list_cases(make_plan(project.subjects, project.checks, filter), part);
  if (what == "tests") list_tests(make_plan(project.subjects, project.checks, filter));
  return kAllKept;
}

std::function<int()> declare(CommandLine& app) {
  app.description(
      "List the operators and models, the checks, every planned case, or the tests for a build system");
  auto options = std::make_shared<ProjectOptions>();
  auto filter = std::make_shared<Filter>();
  auto part = std::make_shared<ShardOptions>();
  auto what = std::make_shared<std::string>();
  options->declare(app);
  auto no_simulator = std::make_shared<bool>(false);
  declare_filter(app, *filter);
  declare_no_simulator(app, *no_simulator);
  part->declare(app);
  app.add_option(
         "WHAT", *what,
         "ops, checks, cases, tests, sources (a digest of what each operator is made from), others (the "
         "files of operators that --op leaves out), or coverage (what "
         "each operator of the libraries and modules has: a spec, samples, kernels)")
      .required()
      .one_of({"ops", "checks", "cases", "tests", "sources", "others", "coverage"});
  return [=] { return list(*options, *filter, *no_simulator, *part, *what); };
}

OPGATE_REGISTER_SUBCOMMAND(list, {"list", &declare});

}  // namespace
}  // namespace opgate::list
