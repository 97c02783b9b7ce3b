// opgate list ops|checks|cases|tests: what there is, without running any of it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "base/dtypes.h"
#include "cli/project.h"
#include "cli/subcommand.h"

namespace opgate {
namespace {

void list_ops(const Project& project) {
  for (const Spec& spec : project.subjects) {
    for (const auto& [device, dtypes] : spec.dtypes) {
      std::vector<std::string_view> names;
      for (const c10::ScalarType dtype : dtypes) names.push_back(dtype_name(dtype));
      fmt::print("{:20} {:5} {} samples  {}  {}\n", spec.id, device_name(device), spec.samples.size(),
                 fmt::join(names, " "), spec.name);
    }
  }
}

void list_checks(const Project& project) {
  for (const Check& check : project.checks) {
    fmt::print("{:18} {:7} {}\n", check.name, to_string(check.worker), check.explanation.promise);
  }
}

void list_cases(const Plan& plan, const Shard& shard) {
  for (Calls::Position position = 0; position < plan.calls.size(); ++position) {
    if (!shard.holds(position)) continue;
    const PlannedCall call = plan.calls[position];
    for (const Check* check : call.checks) fmt::print("{}\n", case_id(call, *check));
  }
}

// One test an operator, check group and device, for build systems: OP GROUP DEVICE WORKER.
void list_tests(const Plan& plan) {
  std::set<std::tuple<std::string, std::string, std::string, std::string_view>> tests;
  for (Calls::Position call = 0; call < plan.calls.size(); ++call) {
    for (const Check* check : plan.calls.checks(call)) {
      tests.emplace(plan.calls.spec(call).id, check->group(), device_name(plan.calls.device(call)),
                    to_string(plan.calls.worker(call, *check)));
    }
  }
  for (const auto& [op, group, device, worker] : tests)
    fmt::print("{} {} {} {}\n", op, group, device, worker);
}

int list(const ProjectOptions& options, const Filter& filter, const std::string& shard,
         const std::string& what) {
  if (!shard.empty() && what != "cases")
    throw SetupError(fmt::format("--shard is for `opgate list cases`; {} are not shared out", what));
  const Shard part = shard.empty() ? Shard{} : shard_from_string(shard);
  const Project project = open_project(options);
  if (what == "ops") list_ops(project);
  if (what == "checks") list_checks(project);
  if (what == "cases") list_cases(make_plan(project.subjects, project.checks, filter), part);
  if (what == "tests") list_tests(make_plan(project.subjects, project.checks, filter));
  return kAllKept;
}

std::function<int()> declare(CLI::App& app) {
  app.description(
      "List operators and models, checks, every planned case, or one line a test for build systems");
  auto options = std::make_shared<ProjectOptions>();
  auto filter = std::make_shared<Filter>();
  auto shard = std::make_shared<std::string>();
  auto what = std::make_shared<std::string>();
  options->declare(app);
  declare_filter(app, *filter);
  declare_shard(app, *shard);
  app.add_option("WHAT", *what, "ops, checks, cases or tests")
      ->required()
      ->check(CLI::IsMember({"ops", "checks", "cases", "tests"}));
  return [=] { return list(*options, *filter, *shard, *what); };
}

OPGATE_REGISTER_SUBCOMMAND(list, {"list", &declare});

}  // namespace
}  // namespace opgate
