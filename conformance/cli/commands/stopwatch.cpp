// opgate stopwatch: times the operators of one build in a process of its own, for `opgate gate`; not for
// users.
#include "bench/timing_process.h"
#include "cli/commands/subcommand.h"
#include "cli/project/project.h"
#include "plan/patterns.h"
#include "spec/spec.h"

namespace opgate::stopwatch {
namespace {

int stopwatch(const ProjectOptions& options, const std::vector<std::string>& ops) {
  std::vector<Spec> subjects = open_subjects(options);
  std::erase_if(subjects, [&](const Spec& spec) {
    return spec.benches.empty() || (!selects(ops, spec.id) && !selects(ops, spec.name));
  });
  return serve_as_stopwatch(subjects.empty() ? std::vector<BenchCase>()
                                             : plan_benches(subjects, {.threads = {1}}));
}

std::function<int()> declare(CommandLine& app) {
  app.hidden();
  auto options = std::make_shared<ProjectOptions>();
  auto ops = std::make_shared<std::vector<std::string>>();
  options->declare(app);
  app.add_option("--op", *ops);
  return [=] { return stopwatch(*options, *ops); };
}

OPGATE_REGISTER_SUBCOMMAND(stopwatch, {"stopwatch", &declare});

}  // namespace
}  // namespace opgate::stopwatch
