// opgate report: writes the results of a run in formats for people and for other programs. The Python half
// does the writing.
#include <nlohmann/json.hpp>

#include "cli/commands/subcommand.h"
#include "cli/project/project_options.h"
#include "process/run_program.h"
#include "run/output_folder.h"
#include "run/python/programs.h"

namespace opgate::report {
namespace {

namespace fs = std::filesystem;

struct ReportOptions {
  ProjectOptions project;
  fs::path results;
  fs::path html, junit, sarif, markdown;
  bool annotations = false;
};

int report(const ReportOptions& options) {
  const Config config = options.project.read();
  const fs::path results = options.results.empty() ? results_file(config.output) : options.results;
  become(python_command(this_program(config), "opgate.report",
                        {{"results", results},
                         {"html", options.html},
                         {"junit", options.junit},
                         {"sarif", options.sarif},
                         {"markdown", options.markdown},
                         {"annotations", options.annotations},
                         {"ledger", config.ledger}}));
}

std::function<int()> declare(CommandLine& app) {
  app.description(
      "Write the results of the last run as an HTML page, JUnit XML, SARIF, Markdown or CI annotations");
  auto options = std::make_shared<ReportOptions>();
  options->project.declare(app);
  app.add_option("FILE", options->results, "results.jsonl of another run");
  app.add_option("--html FILE", options->html, "self-contained HTML page");
  app.add_option("--junit FILE", options->junit, "JUnit XML, one test for each operator, device and check");
  app.add_option("--sarif FILE", options->sarif, "SARIF 2.1.0, for code scanning");
  app.add_option("--markdown FILE", options->markdown, "Markdown, for a comment on a pull request");
  app.add_flag("--annotations", options->annotations, "print ::error lines for a CI runner on stdout");
  return [=] { return report(*options); };
}

OPGATE_REGISTER_SUBCOMMAND(report, {"report", &declare});

}  // namespace
}  // namespace opgate::report
