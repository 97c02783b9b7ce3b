// opgate selftest: every check must find the defects that were planted for it, and no check may flag a
// correct twin of a defect.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/build.h"
#include "cli/commands/subcommand.h"
#include "cli/project/project.h"
#include "cli/project/run_cases.h"
#include "cli/results/detection_matrix.h"
#include "cli/results/results.h"
#include "judging/all_checks.h"
#include "plan/case_set.h"
#include "plan/plan.h"
#include "run/output_folder.h"
#include "spec/spec.h"

namespace opgate::selftest {
namespace {

struct SelftestOptions {
  ProjectOptions project;
  std::vector<std::string> ops;
  std::vector<std::string> devices;
  std::vector<std::string> blind;
  Filter order;  // of which only the order counts
  bool no_opcheck = false;
  bool no_simulator = false;
  ExecutionOptions execution;
};

// Native checks cost little and run on every subject, as does opcheck if its results are wanted for
// comparison. Other checks run only on what is planted for them.
std::vector<std::string> checks_for_all(const Project& project, bool with_opcheck) {
  std::vector<std::string> checks;
  for (const Check& check : project.checks) {
    if (check.worker == Worker::native || (with_opcheck && check.name == "opcheck"))
      checks.push_back(pattern_of(check.name));
  }
  return checks;
}

std::vector<const Spec*> planned_subjects(const Plan& plan) {
  std::vector<const Spec*> subjects;
  for (Calls::Position call = 0; call < plan.calls.size(); ++call) {
    const Spec& spec = plan.calls.spec(call);
    if (subjects.empty() || subjects.back() != &spec) subjects.push_back(&spec);
  }
  return subjects;
}

int selftest(const SelftestOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  Project project = open_project(options.project, options.execution.limits());
  if (std::ranges::none_of(project.subjects, [](const Spec& spec) { return !!spec.planted; })) {
    throw SetupError(
        "nothing here is planted for a check; OpGate's own planted defects are those of --config "
        "fixtures/defects/opgate.toml in its source tree");
  }
  for (const std::string& name : options.blind) find_check(project.checks, name);
  Filter filter{options.ops,
                checks_for_all(project, options.blind.empty() && !options.no_opcheck),
                options.devices,
                {},
                true,
                options.order.order};
  choose_simulator(filter, options.no_simulator);
  const Plan plan = make_plan(project.subjects, project.checks, filter);
  DetectionMatrix matrix(project.subjects, planned_subjects(plan), project.checks, options.blind);
  fmt::print("OpGate {} · torch {} · {} planted defects, {} correct twins, {} checks, {} cases\n", kVersion,
             project.torch, matrix.defects(), matrix.twins(), filter.checks.size(), plan.cases());
  std::fflush(stdout);
  CaseSet todo(plan.calls, {});
  const std::filesystem::path file = results_file(project.config.output);
  keep_interrupted(file);
  const RunHeader header = header_of(project, plan, filter, todo);
  Journal journal(file, header);
  const auto costs = run_cases(project, plan, header, todo, options.execution.jobs, 0, journal, matrix);
  if (!costs) {
    fmt::print(stderr, "opgate: interrupted; {} cases have no verdict\n", todo.size());
    return kInterrupted;
  }
  journal.finish();
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  fmt::print("\n{}\n{}{}{} in {:.1f} s\n", matrix.table(), matrix.faults(options.project.again()),
             matrix.groups(), matrix.summary(), elapsed.count());
  return matrix.holds() ? kAllKept : kPromiseBroken;
}

std::function<int()> declare(CommandLine& app) {
  app.description(
      "Run the planted defects and their correct twins: each check must find what was planted for it");
  auto options = std::make_shared<SelftestOptions>();
  options->project.declare(app);
  app.add_option("--op PATTERN", options->ops, "only operators with this name; * and ? are wildcards");
  declare_devices(app, options->devices);
  app.add_option(
      "--blind CHECK", options->blind,
      "count every verdict of this check as a pass, to see that the defects planted for it escape");
  declare_order(app, options->order);
  declare_no_simulator(app, options->no_simulator);
  app.add_flag("--no-opcheck", options->no_opcheck,
               "leave out torch.library.opcheck, which takes most of the time and is only for comparison");
  options->execution.declare(app);
  app.footer("Exit status: 0 every defect found and no twin flagged, 1 otherwise, 2 wrong usage or set-up.");
  return [=] { return selftest(*options); };
}

OPGATE_REGISTER_SUBCOMMAND(selftest, {"selftest", &declare});

}  // namespace
}  // namespace opgate::selftest
