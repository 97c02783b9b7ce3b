#include "gate/base/mutated_lines.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include "base/errors.h"
#include "base/files/files.h"
#include "process/run_program.h"

namespace opgate {

std::vector<MutantResult> mutants_of_change(const std::string& commit, const Config& config,
                                            const std::vector<std::string>& options,
                                            const Announce& announce) {
  const std::filesystem::path report = config.output / "mutation" / "report.txt";
  std::filesystem::create_directories(report.parent_path());
  announce(fmt::format("head: `opgate mutate` scores the changed lines; its report is {}", report.string()));
  Command mutate{{this_executable(), "mutate", "--config", config.file, "--output", config.output, "--diff",
                  commit, "--least", "0"}};
  mutate.words.insert(mutate.words.end(), options.begin(), options.end());
  const int status = run_to_end(mutate, config.file.parent_path(), report, Errors::shown);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    throw setup_error(
        "the changed lines have no score, for which mutation.least asks; the reason is above, or "
        "in {} (--no-mutants leaves it out)",
        report.string());
  }
  return read_mutants(mutants_file(config.output));
}

}  // namespace opgate
