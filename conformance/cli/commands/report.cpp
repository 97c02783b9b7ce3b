// opgate report: writes the results of a run in formats for people and for other programs. The Python half
// does the writing.
#include <fmt/format.h>
#include <opgate/error.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cli/commands/subcommand.h"
#include "cli/project/project_options.h"
#include "run/output_folder.h"
#include "run/programs.h"

namespace opgate::report {
namespace {

namespace fs = std::filesystem;

struct ReportOptions {
  ProjectOptions project;
  fs::path results;
  fs::path html, junit, sarif, markdown;
  bool annotations = false;
};

// Replaces this process by the command. Throws SetupError if the command cannot be started.
[[noreturn]] void become(const Command& command) {
  for (const auto& [name, value] : command.environment) setenv(name.c_str(), value.c_str(), /*overwrite=*/1);
  std::vector<char*> words;
  for (const std::string& word : command.words) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execvp(words.front(), words.data());
  throw SetupError(fmt::format("cannot run {}: {}; set OPGATE_PYTHON to a Python that has torch",
                               command.words.front(), std::strerror(errno)));
}

int report(const ReportOptions& options) {
  const Config config = options.project.read();
  Command command = python_command(this_program(config), "opgate.report");
  command.words.push_back(options.results.empty() ? results_file(config.output) : options.results);
  const auto add = [&](const char* option, const fs::path& file) {
    if (!file.empty()) command.words.insert(command.words.end(), {option, file.string()});
  };
  add("--html", options.html);
  add("--junit", options.junit);
  add("--sarif", options.sarif);
  add("--markdown", options.markdown);
  add("--ledger", config.ledger);
  if (options.annotations) command.words.emplace_back("--annotations");
  become(command);
}

std::function<int()> declare(CommandLine& app) {
  app.description(
      "Write the results of the last run as an HTML page, JUnit XML, SARIF, Markdown or CI annotations");
  auto options = std::make_shared<ReportOptions>();
  options->project.declare(app);
  app.add_option("FILE", options->results, "results.jsonl of another run");
  const auto file = [&](const char* name, fs::path& place, const char* what) {
    app.add_option(name, place, what).type_name("FILE");
  };
  file("--html", options->html, "self-contained HTML page");
  file("--junit", options->junit, "JUnit XML, one test for each operator, device and check");
  file("--sarif", options->sarif, "SARIF 2.1.0, for code scanning");
  file("--markdown", options->markdown, "Markdown, for a comment on a pull request");
  app.add_flag("--annotations", options->annotations, "print ::error lines for a CI runner on stdout");
  return [=] { return report(*options); };
}

OPGATE_REGISTER_SUBCOMMAND(report, {"report", &declare});

}  // namespace
}  // namespace opgate::report
