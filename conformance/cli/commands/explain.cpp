// opgate explain CHECK: what a check or a rule of the gate demands, why it matters, and how to fix what it
// finds.
#include <fmt/format.h>
#include <opgate/error.h>

#include <algorithm>
#include <sstream>
#include <string_view>

#include "cli/commands/subcommand.h"
#include "cli/project/project.h"
#include "cli/terminal/terminal.h"
#include "gate/rule.h"
#include "judging/all_checks.h"

namespace opgate::explain {
namespace {

// Native checks and rules are looked up first: they can be explained without a project.
Explanation explanation_of(const ProjectOptions& options, const std::string& id) {
  if (const Check* check = Registry<Check>::instance().find(id)) return check->explanation;
  if (const Rule* rule = Registry<Rule>::instance().find(id)) return rule->explanation;
  return find_check(open_project(options).checks, id).explanation;
}

// Prints a title and, below it, every line of `text` indented. Prints nothing if `text` is empty.
void print_section(std::string_view title, std::string_view text) {
  if (text.empty()) return;
  fmt::print("\n{}\n", coloured(Colour::bold, title));
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    fmt::print("  {}\n", text.substr(begin, end - begin));
    begin = end + 1;
  }
}

// Converts an explanation to Markdown. Its indented lines are code.
std::string prose(const std::string& text) {
  std::string markdown;
  bool code = false;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("  ") != code) {
      code = !code;
      markdown += code ? "\n\n```\n" : "```\n\n";
    } else if (!markdown.empty() && !code) {
      markdown += ' ';
    }
    markdown += code ? line.substr(2) + '\n' : line;
  }
  return code ? markdown + "```" : markdown;
}

int explain(const ProjectOptions& options, const std::string& id) {
  const Explanation said = explanation_of(options, id);
  fmt::print("{}\n  {}\n", coloured(Colour::bold, id), said.promise);
  print_section("Why it matters", said.why);
  print_section("How to fix it", said.fix);
  print_section("Wrong", said.wrong);
  print_section("Right", said.right);
  print_section("A bug of this kind", said.example);
  print_section("What it does not find", said.does_not_find);
  return kAllKept;
}

// Prints a page of Markdown: all checks, then the rules of the gate.
int explain_all(const ProjectOptions& options) {
  const auto entry = [](std::string_view id, const Explanation& said) {
    fmt::print("\n### {}\n\n{}\n\n{}\n\n**How to fix it.** {}\n", id, prose(said.promise), prose(said.why),
               prose(said.fix));
    if (!said.wrong.empty())
      fmt::print("\nWrong:\n\n```\n{}\n```\n\nRight:\n\n```\n{}\n```\n", said.wrong, said.right);
    if (!said.example.empty()) fmt::print("\n**A bug of this kind.** {}\n", prose(said.example));
    if (!said.does_not_find.empty())
      fmt::print("\n**What it does not find.** {}\n", prose(said.does_not_find));
  };
  const Project project = open_project(options);
  end_where_nobody_reads();
  fmt::print("## Checks\n");
  for (const Check& check : project.checks) entry(check.name, check.explanation);
  fmt::print("\n## Rules of the gate\n");
  for (const Rule& rule : Registry<Rule>::instance().parts()) entry(rule.name, rule.explanation);
  return kAllKept;
}

std::function<int()> declare(CommandLine& app) {
  app.description(
      "Explain a check or a rule of the gate: its promise, why PyTorch relies on it, and how to fix the "
      "operator");
  auto options = std::make_shared<ProjectOptions>();
  auto id = std::make_shared<std::string>();
  options->declare(app);
  auto all = std::make_shared<bool>();
  const CommandLineOption one =
      app.add_option("CHECK", *id, "id of a check, as in `opgate list checks`, or of a rule of the gate");
  app.add_flag("--markdown", *all, "explain every check and every rule, as Markdown").excludes(one);
  return [=] {
    if (*all) return explain_all(*options);
    if (id->empty())
      throw SetupError("no CHECK was given: name one of `opgate list checks`; see opgate --help");
    return explain(*options, *id);
  };
}

OPGATE_REGISTER_SUBCOMMAND(explain, {"explain", &declare});

}  // namespace
}  // namespace opgate::explain
