// opgate watch: after each rebuild, runs the cheap checks of the operators that changed.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <opgate/error.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <fstream>
#include <iterator>
#include <map>
#include <thread>

#include "cli/commands/subcommand.h"
#include "cli/project/project_options.h"
#include "cli/terminal/terminal.h"
#include "judging/all_checks.h"
#include "process/interrupt.h"
#include "process/run_program.h"
#include "run/python/programs.h"

namespace opgate::watch {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr auto kLook = 100ms;
constexpr auto kQuiet = 200ms;  // without a write for so long, the linker has finished

struct WatchOptions {
  ProjectOptions project;
  Filter filter;
  bool once = false;  ///< ends after the first change
};

/// The time of the last write and the size in bytes of each file; a missing file has no entry.
using Stamps = std::map<fs::path, std::pair<fs::file_time_type, uintmax_t>>;

Stamps stamps_of(const Config& config) {
  Stamps stamps;
  const auto add = [&](const fs::path& file) {
    std::error_code missing;
    const auto time = fs::last_write_time(file, missing);
    const auto size = fs::file_size(file, missing);
    if (!missing) stamps[file] = {time, size};
  };
  const auto add_folder = [&](const fs::path& folder, std::string_view extension) {
    std::error_code missing;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder, missing)) {
      if (entry.path().extension() == extension) add(entry.path());
    }
  };
  add(config.file);
  for (const auto& names : {config.libraries, config.specs}) {
    for (const std::string& name : names) {
      try {
        add(config.find_library(name));
      } catch (const SetupError&) {  // not there while it is linked
      }
    }
  }
  for (const fs::path& folder : config.python_path) add_folder(folder, ".py");
  for (const KernelFolder& kernel : config.kernels) {
    add_folder(kernel.folder, ".py");
    add_folder(kernel.folder, ".json");  // of the next build, whose library has another name
  }
  if (!config.recorded.empty()) add_folder(config.recorded, ".json");
  if (!config.regressions.empty()) add_folder(config.regressions, ".json");
  return stamps;
}

// Waits until no file has changed for kQuiet. Throws Interrupted.
Stamps await_quiet(const Config& config, Stamps stamps) {
  for (auto since = std::chrono::steady_clock::now(); std::chrono::steady_clock::now() - since < kQuiet;) {
    if (interrupted()) throw Interrupted();
    std::this_thread::sleep_for(kLook);
    Stamps now = stamps_of(config);
    if (now == stamps) continue;
    stamps = std::move(now);
    since = std::chrono::steady_clock::now();
  }
  return stamps;
}

Stamps await_change(const Config& config, const Stamps& before) {
  while (true) {
    if (interrupted()) throw Interrupted();
    std::this_thread::sleep_for(kLook);
    const Stamps now = stamps_of(config);
    if (now != before) return await_quiet(config, now);
  }
}

class Watch {
 public:
  Watch(const WatchOptions& options, Config config)
      : options_(options), config_(std::move(config)), folder_(config_.output / "watch") {}

  void pass() {
    const std::map<std::string, std::string> now = digests();
    if (now.empty()) return;  // `opgate list` has printed why
    std::vector<std::string> ops;
    for (const auto& [op, digest] : now) {
      const auto known = known_.find(op);
      if (known == known_.end() || digest == "-" || known->second != digest) ops.push_back(op);
    }
    const bool all =
        known_.empty() || ops.empty();  // rebuilt from the same sources, perhaps with other flags
    known_ = now;
    run(all ? std::vector<std::string>() : ops);
  }

 private:
  Command opgate(std::vector<std::string> words) const {
    words.insert(words.begin(), this_program(config_).opgate);
    words.insert(words.end(), {"--config", config_.file, "--output", folder_});
    if (!options_.project.build.empty())
      words.insert(words.end(), {"--build", fs::absolute(options_.project.build)});
    return {std::move(words), {}};
  }

  // The digest of each operator's sources, by operator id; empty if the libraries do not load.
  std::map<std::string, std::string> digests() const {
    std::map<std::string, std::string> found;
    std::vector<std::string> words{"list", "sources", "--check"};
    std::ranges::copy(ids_of(native_checks(), &Check::quick), std::back_inserter(words));
    const fs::path log = folder_ / "sources.txt";
    if (run_to_end(opgate(words), config_.file.parent_path(), log, Errors::shown) != 0) return found;
    std::ifstream stream(log);
    for (std::string digest, op; stream >> digest >> op;) found[op] = digest;
    return found;
  }

  void run(const std::vector<std::string>& changed) const {
    std::vector<std::string> words{"run"};
    const std::vector<std::string>& ops = options_.filter.ops.empty() ? changed : options_.filter.ops;
    const auto add = [&](const char* option, const std::vector<std::string>& values) {
      if (values.empty()) return;
      words.emplace_back(option);
      words.insert(words.end(), values.begin(), values.end());
    };
    add("--op", ops);
    add("--check",
        options_.filter.checks.empty() ? ids_of(native_checks(), &Check::quick) : options_.filter.checks);
    add("--device",
        options_.filter.devices.empty() ? std::vector<std::string>{"cpu"} : options_.filter.devices);
    add("--case", options_.filter.cases);
    run_here(opgate(words));
  }

  const WatchOptions& options_;
  Config config_;
  fs::path folder_;
  std::map<std::string, std::string> known_;
};

int watch(const WatchOptions& options) {
  watch_signals();
  const Config config = options.project.read();
  Watch watch(options, config);
  try {
    Stamps stamps = await_quiet(config, stamps_of(config));
    for (bool first = true;; first = false) {
      watch.pass();
      if (options.once && !first) return kAllKept;
      const std::time_t now = std::time(nullptr);
      fmt::print("\n{} {} files since {:%H:%M:%S}; press Ctrl-C to end\n", coloured(Colour::bold, "watching"),
                 stamps.size(), *std::localtime(&now));
      std::fflush(stdout);
      stamps = await_change(config, stamps);
    }
  } catch (const Interrupted&) {
    fmt::print("\n");
    return kAllKept;
  }
}

std::function<int()> declare(CommandLine& app) {
  app.description(
      "Wait until libraries, specs or recordings are rebuilt or rewritten, then run the cheap checks of the "
      "operators whose sources changed, or of all operators if no source changed");
  app.footer("Results go to `watch` in the output folder, so that those of `opgate run` are kept.");
  auto options = std::make_shared<WatchOptions>();
  options->project.declare(app);
  declare_filter(app, options->filter);
  app.add_flag("--once", options->once, "end after the first change");
  return [=] { return watch(*options); };
}

OPGATE_REGISTER_SUBCOMMAND(watch, {"watch", &declare});

}  // namespace
}  // namespace opgate::watch
