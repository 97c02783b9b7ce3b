// opgate explain CHECK: what a check asks, why it matters, how to mend what it finds.
#include <fmt/format.h>

#include "cli/project.h"
#include "cli/subcommand.h"
#include "cli/terminal.h"

namespace opgate {
namespace {

int explain(const ProjectOptions& options, const std::string& id) {
  // A native check needs no project: it can be explained anywhere.
  const Check* native = Registry<Check>::instance().find(id);
  const Check check = native != nullptr ? *native : find_check(open_project(options).checks, id);
  fmt::print("{}\n  {}\n\n{}\n  {}\n\n{}\n  {}\n\n{}\n  {}\n", coloured(Colour::bold, check.name),
             check.explanation.promise, coloured(Colour::bold, "Why it matters"), check.explanation.why,
             coloured(Colour::bold, "How to mend it"), check.explanation.fix,
             coloured(Colour::bold, "A real bug of this kind"), check.explanation.example);
  return kAllKept;
}

std::function<int()> declare(CLI::App& app) {
  app.description("Explain a check: its promise, why PyTorch relies on it, how to mend the operator");
  auto options = std::make_shared<ProjectOptions>();
  auto id = std::make_shared<std::string>();
  options->declare(app);
  app.add_option("CHECK", *id, "the check's id, as in `opgate list checks`")->required();
  return [=] { return explain(*options, *id); };
}

OPGATE_REGISTER_SUBCOMMAND(explain, {"explain", &declare});

}  // namespace
}  // namespace opgate
