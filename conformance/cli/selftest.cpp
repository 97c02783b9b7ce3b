// opgate selftest: every check must convict the defects that were planted for it, and none their correct
// twins.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/build.h"
#include "cli/kill_matrix.h"
#include "cli/results.h"
#include "cli/subcommand.h"
#include "cli/sweep.h"

namespace opgate::selftest {
namespace {

struct SelftestOptions {
  ProjectOptions project;
  std::vector<std::string> ops;
  std::vector<std::string> devices;
  std::vector<std::string> blind;
  bool no_opcheck = false;
  SweepOptions sweep;
};

// Native checks cost next to nothing and are tried on everything; opcheck too, where it is to be compared
// with. Others are tried where something is planted for them.
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
  Project project = open_project(options.project, options.sweep.limits());
  if (std::ranges::none_of(project.subjects, [](const Spec& spec) { return !!spec.planted; })) {
    throw SetupError(
        "nothing here is planted for a check; OpGate's own planted defects are those of --config "
        "fixtures/defects/opgate.toml");
  }
  for (const std::string& name : options.blind) find_check(project.checks, name);
  const Filter filter{options.ops,
                      checks_for_all(project, options.blind.empty() && !options.no_opcheck),
                      options.devices,
                      {},
                      true};
  const Plan plan = make_plan(project.subjects, project.checks, filter);
  KillMatrix matrix(project.subjects, planned_subjects(plan), project.checks);
  fmt::print("OpGate {} · torch {} · {} planted defects, {} correct twins, {} checks, {} cases\n", kVersion,
             project.torch, matrix.defects(), matrix.twins(), filter.checks.size(), plan.cases());
  std::fflush(stdout);
  CaseSet todo(plan.calls, {});
  const std::filesystem::path file = project.config.output / "results.jsonl";
  keep_interrupted(file);
  const RunHeader header = header_of(project, plan, filter, todo);
  Journal journal(file, header);
  const auto costs =
      sweep(project, plan, header, todo, options.sweep.jobs, 0, journal,
            [&](const std::string& id, const Judgement& judgement) {
              const bool blind =
                  std::ranges::find(options.blind, id.substr(id.rfind('/') + 1)) != options.blind.end();
              matrix.add(id, blind ? Judgement::pass() : judgement);
            });
  if (!costs) {
    fmt::print(stderr, "opgate: interrupted; {} cases have no verdict\n", todo.size());
    return kInterrupted;
  }
  journal.finish();
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  fmt::print("\n{}\n{}{} in {:.1f} s\n", matrix.table(), matrix.faults(options.project.again()),
             matrix.summary(), elapsed.count());
  return matrix.holds() ? kAllKept : kPromiseBroken;
}

std::function<int()> declare(CommandLine& app) {
  app.description(
      "Run the planted defects and their correct twins: each check must convict what was planted for it");
  auto options = std::make_shared<SelftestOptions>();
  options->project.declare(app);
  app.add_option("--op", options->ops, "only operators of this name; * and ? match").type_name("PATTERN");
  app.add_option("--device", options->devices, "only cpu or cuda").type_name("PATTERN");
  app.add_option("--blind", options->blind,
                 "take this check to pass everything, to see that the defects planted for it escape")
      .type_name("CHECK");
  app.add_flag("--no-opcheck", options->no_opcheck,
               "leave out torch.library.opcheck, which is only compared with, and takes most of the time");
  options->sweep.declare(app);
  app.footer("Exit status: 0 every defect convicted and no twin, 1 otherwise, 2 wrong usage or set-up.");
  return [=] { return selftest(*options); };
}

OPGATE_REGISTER_SUBCOMMAND(selftest, {"selftest", &declare});

}  // namespace
}  // namespace opgate::selftest
