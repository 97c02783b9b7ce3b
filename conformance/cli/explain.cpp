// opgate explain CHECK: what a check, or a rule of the gate, asks, why it matters, how to mend what it finds.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "cli/project.h"
#include "cli/subcommand.h"
#include "cli/terminal.h"
#include "gate/rule.h"

namespace opgate {
namespace {

// A native check, or a rule, needs no project: it can be explained anywhere.
Explanation explanation_of(const ProjectOptions& options, const std::string& id) {
  if (const Check* check = Registry<Check>::instance().find(id)) return check->explanation;
  if (const Rule* rule = Registry<Rule>::instance().find(id)) return rule->explanation;
  return find_check(open_project(options).checks, id).explanation;
}

// A title and, below it, every line of `text` indented; nothing where there is no text.
void print_section(std::string_view title, std::string_view text) {
  if (text.empty()) return;
  fmt::print("\n{}\n", coloured(Colour::bold, title));
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    fmt::print("  {}\n", text.substr(begin, end - begin));
    begin = end + 1;
  }
}

int explain(const ProjectOptions& options, const std::string& id) {
  const Explanation said = explanation_of(options, id);
  fmt::print("{}\n  {}\n", coloured(Colour::bold, id), said.promise);
  print_section("Why it matters", said.why);
  print_section("How to mend it", said.fix);
  print_section("Wrong", said.wrong);
  print_section("Right", said.right);
  print_section("A bug of this kind", said.example);
  return kAllKept;
}

std::function<int()> declare(CLI::App& app) {
  app.description(
      "Explain a check, or a rule of the gate: its promise, why PyTorch relies on it, how to mend the "
      "operator");
  auto options = std::make_shared<ProjectOptions>();
  auto id = std::make_shared<std::string>();
  options->declare(app);
  app.add_option("CHECK", *id, "its id, as in `opgate list checks`, or as `opgate gate` names a rule")
      ->required();
  return [=] { return explain(*options, *id); };
}

OPGATE_REGISTER_SUBCOMMAND(explain, {"explain", &declare});

}  // namespace
}  // namespace opgate
