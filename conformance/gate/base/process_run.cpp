#include "gate/base/process_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/wait.h>

#include "base/errors.h"
#include "process/interrupt.h"
#include "process/run_program.h"
#include "run/journal.h"
#include "run/output_folder.h"

namespace opgate {
namespace fs = std::filesystem;

fs::path results_of_process(const Command& run, const fs::path& output, const std::string& what_failed) {
  const fs::path results = results_file(output), log = output / "run.log";
  fs::remove(results);  // those of an earlier run must not be taken for this run's
  const int status = run_to_end(run, fs::current_path(), log, Errors::shown);
  if (WIFEXITED(status) && WEXITSTATUS(status) == kInterruptedStatus) throw Interrupted();
  if (!WIFEXITED(status) || !fs::exists(results) || !is_finished(results)) {
    throw setup_error("{}: `{}` ended with {}; its output is above and in {}", what_failed,
                      fmt::join(run.words, " "), ending(status), log.string());
  }
  return results;
}

}  // namespace opgate
