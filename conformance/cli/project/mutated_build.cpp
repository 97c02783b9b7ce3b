#include "cli/project/mutated_build.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/wait.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/errors.h"
#include "base/files/files.h"
#include "mutation/mutant_json.h"
#include "process/interrupt.h"
#include "process/run_program.h"
#include "run/python/programs.h"

namespace opgate {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// The library that the build in `built` has made, or the original one, which has no mutants. Without a build,
// `built` is empty.
fs::path library_of(const fs::path& built, const fs::path& original) {
  if (built.empty()) return original;
  for (const fs::path& place : {built / original.filename(), built / "lib" / original.filename()}) {
    if (fs::exists(place)) return place;
  }
  return original;
}

// A folder with all libraries of the configuration, as --build takes it.
fs::path gather_libraries(const Config& config, const fs::path& folder, const fs::path& built) {
  fs::remove_all(folder);
  fs::create_directories(folder);
  for (const std::vector<std::string>* names : {&config.libraries, &config.specs}) {
    for (const std::string& name : *names) {
      const fs::path original = fs::canonical(config.find_library(name));
      fs::create_symlink(library_of(built, original), folder / fs::path(name).filename());
    }
  }
  return folder;
}

}  // namespace

MutatedBuild build_mutants(const Config& config, const MutantChoice& choice) {
  const MutationRecipe& recipe = config.mutation;
  const std::vector<std::string>& sources = choice.sources.empty() ? recipe.sources : choice.sources;
  if (sources.empty()) {
    throw setup_error(
        "there is nothing to change: name files or folders of sources, or write mutation = {{ sources = "
        "[\"src\"] }} into {}",
        config.file.string());
  }
  const BuildRecipe& build = recipe.build.command.empty() ? config.build : recipe.build;
  std::vector<std::string> without = recipe.without;
  without.insert(without.end(), choice.without.begin(), choice.without.end());
  const fs::path place = config.output / "mutation";
  const fs::path copy = place / "copy", answer = place / "mutants.json";
  fs::create_directories(copy);
  fs::remove(answer);
  const Programs programs = this_program(config);
  const json request{{"root", config.file.parent_path()},
                     {"config", config.file},
                     {"copy", copy},
                     {"python", place / "python"},
                     {"sources", sources},
                     {"without", without},
                     {"of_others", choice.of_others},
                     {"command", build.command},
                     {"log", place / "build.log"},
                     {"environment",
                      {{"OPGATE_PYTHON", programs.python},
                       {"OPGATE_DEVICES", fmt::format("{}", fmt::join(choice.devices, " "))}}},
                     {"kinds", choice.kinds},
                     {"diff", choice.diff},
                     {"most", choice.most},
                     {"seed", choice.seed},
                     {"answer", answer}};
  if (const int status = run_here(python_command(programs, "opgate.mutation", request)); status != 0) {
    if (WIFSIGNALED(status)) throw Interrupted();
    throw SetupError("no mutants were built; the reason is above");
  }
  const json answered = json::parse(content_of(answer));
  MutatedBuild built;
  answered.at("mutants").get_to(built.mutants);
  answered.at("refused").get_to(built.refused);
  answered.at("not_understood").get_to(built.not_understood);
  built.sources = answered.at("sources").size();
  answered.at("in_libraries").get_to(built.in_libraries);
  answered.at("environment").get_to(built.environment);
  built.copy = copy;
  // Those of an earlier build have mutants with the same numbers.
  const fs::path built_into = built.in_libraries ? copy / build.folder : fs::path();
  built.libraries = gather_libraries(config, place / "libraries", built_into);
  return built;
}

}  // namespace opgate
