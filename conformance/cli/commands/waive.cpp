// opgate waive: makes waivers of the lists of known failures that a project has already. The Python half
// reads the lists and writes the waivers.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/errors.h"
#include "cli/commands/subcommand.h"
#include "cli/project/project_options.h"
#include "gate/broken.h"
#include "gate/waivers.h"
#include "process/run_program.h"
#include "run/output_folder.h"
#include "run/python/programs.h"

namespace opgate::waive {
namespace {

namespace fs = std::filesystem;

struct WaiveOptions {
  ProjectOptions project;
  std::vector<fs::path> lists;
  fs::path results;
  std::string issue;
  int days = 60;
};

// The checks that fail in a run, one entry for each operator and device, with what the gate would say.
nlohmann::json broken_checks(const RunState& run) {
  nlohmann::json broken = nlohmann::json::array();
  for (const Remark& remark : judge_change({.base = {}, .head = run})) {
    if (remark.kind != Remark::Kind::refused || !is_of_check(remark)) continue;
    const auto cases = std::ranges::find(run.broken, remark.shown, &Broken::case_id);
    broken.push_back({{"check", remark.rule},
                      {"op", remark.op},
                      {"schema", run.state.at(remark.op).facts.schema},
                      {"device", remark.device},
                      {"dtypes", remark.dtypes},
                      {"ended", remark.ended},
                      {"verdict", to_string(cases->judgement.verdict)},
                      {"what", remark.what}});
  }
  return broken;
}

int waive(const WaiveOptions& options) {
  const Config config = options.project.read();
  const fs::path file = config.waivers.empty() ? config.file.parent_path() / "waivers.toml" : config.waivers;
  // A mistake in the file is reported before anything is added to it.
  const int64_t most = (fs::exists(file) ? read_waivers(file) : WaiverFile()).max_days;
  if (options.days > most)
    throw setup_error("--days {}: a waiver may end {} days from now at most", options.days, most);
  const RunState run = state_of_run(options.results.empty() ? results_file(config.output) : options.results);
  become(python_command(this_program(config), "opgate.waivers",
                        {{"files", options.lists},
                         {"waivers", file},
                         {"is_named", !config.waivers.empty()},
                         {"config", config.file},
                         {"issue", options.issue},
                         {"expires", day_after(today(), options.days)},
                         {"broken", broken_checks(run)}}));
}

std::function<int()> declare(CommandLine& app) {
  app.description(
      "Make waivers of a project's known failures: for each check that fails in the last run, and that a "
      "test marked as an expected failure or an entry of PyTorch's failures_dict explains");
  auto options = std::make_shared<WaiveOptions>();
  options->project.declare(app);
  app.add_option("--from FILE", options->lists,
                 "files of tests (.py) in which pytest.mark.xfail, pytest.xfail or unittest.expectedFailure "
                 "stands, or failures_dict files (.json)")
      .required();
  app.add_option("--issue URL", options->issue,
                 "address of the issue for known failures whose reason names none");
  app.add_option("--days", options->days, "how many days from today the waivers end")
      .between(1, 3650)
      .shows_default();
  app.add_option("--results FILE", options->results, "results.jsonl of another run");
  app.footer("Exit status: 0 the lists were read, 2 wrong usage or set-up, or a list that cannot be read.");
  return [=] { return waive(*options); };
}

OPGATE_REGISTER_SUBCOMMAND(waive, {"waive", &declare});

}  // namespace
}  // namespace opgate::waive
