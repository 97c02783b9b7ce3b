#include "gate/current_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "base/errors.h"
#include "base/files/files.h"
#include "process/run_program.h"
#include "provenance/digests.h"
#include "provenance/file_digest.h"
#include "run/project_setup.h"
#include "run/python/programs.h"
#include "run/worker/worker_process.h"

namespace opgate {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// The digest of that library in the run. The run may have been made elsewhere, with the file in another
// folder.
const std::string* digest_in_run(const RunHeader& header, const fs::path& library) {
  const auto exact = header.files.find(fs::weakly_canonical(library));
  if (exact != header.files.end()) return &exact->second;
  const auto same_name = std::ranges::find_if(header.files, [&](const auto& entry) {
    return fs::path(entry.first).filename() == library.filename();
  });
  return same_name == header.files.end() ? nullptr : &same_name->second;
}

// Where a file of the run is now. The project may lie in another folder than when it was run.
fs::path file_here(const fs::path& file, const RunHeader& header, const Config& config) {
  if (header.folder.empty()) return file;
  const fs::path relative = file.lexically_relative(fs::weakly_canonical(header.folder));
  if (relative.empty() || *relative.begin() == "..") return file;
  return fs::weakly_canonical(config.file.parent_path()) / relative;
}

std::optional<fs::path> found(const Config& config, const std::string& library) {
  try {
    return config.find_library(library);
  } catch (const SetupError&) {
    return std::nullopt;
  }
}

// A file outside of the project need not be on this machine.
void demand_same_inputs(const RunHeader& header, const Config& config,
                        const std::function<SetupError(const std::string&)>& out_of_date) {
  constexpr std::string_view kReader = "which the project's Python modules read";
  for (const auto& [file, then] : header.inputs.files) {
    const fs::path here = file_here(file, header, config);
    const std::string now = digest_or_none(here);
    const bool is_elsewhere = here == file && !is_inside(file, config.file.parent_path());
    if (now == then || (now.empty() && is_elsewhere)) continue;
    throw out_of_date(fmt::format("{}, {}, {}", here.string(), kReader,
                                  now.empty()    ? "is gone"
                                  : then.empty() ? "was not there then"
                                                 : "has other contents now"));
  }
  if (header.inputs.variables.empty()) return;
  const Command command = worker_program(this_program(config), setup_from(config), Worker::python).command;
  for (const auto& [variable, then] : header.inputs.variables) {
    if (names_a_place(variable) || digest_of_variable(variable, command) == then) continue;
    throw out_of_date(
        fmt::format("the environment variable {}, {}, has another value now", variable, kReader));
  }
}

// By name: the files that a run of now would read for the modules that opgate.toml lists, and for those of
// `then` that Python finds. No module is imported. Throws SetupError if Python cannot be started.
std::map<std::string, fs::path> modules_here(const ModulesRead& then, const Config& config) {
  if (config.modules.empty()) return {};
  const Programs programs = this_program(config);
  Command command = python_command(programs, "opgate.modules.found");
  json others = json::array();
  for (const auto& [name, file] : then.files) others.push_back(name);
  command.words.push_back(json{{"listed", config.modules}, {"others", std::move(others)}}.dump());
  const json said = json::parse(output_of(command), nullptr, /*allow_exceptions=*/false);
  if (!said.is_object()) {
    throw setup_error(
        "{} cannot be asked where the Python modules of opgate.toml are; set OPGATE_PYTHON to an "
        "interpreter that has OpGate",
        programs.python);
  }
  std::map<std::string, fs::path> files;
  for (const auto& [name, file] : said.items()) files[name] = file.get<std::string>();
  return files;
}

}  // namespace

bool demand_current(const RunHeader& header, const fs::path& results, const Config& config) {
  const auto out_of_date = [&](const std::string& why) {
    return setup_error("{} (run of {}) is out of date: {}; run `opgate run` again", results.string(),
                       header.started, why);
  };
  const auto demand_same = [&](const fs::path& file, const std::string& then) {
    if (digest_of_file(file) != then) throw out_of_date(file.string() + " is another one now");
  };
  const auto lacks = [&](const std::string& what) {
    return setup_error("{} (run of {}) has no results of {}; run `opgate run` again", results.string(),
                       header.started, what);
  };
  bool all_here = true;
  for (const auto* names : {&config.libraries, &config.specs}) {
    for (const std::string& name : *names) {
      const auto library = found(config, name);
      if (!library || !fs::exists(*library)) {
        all_here = false;
        continue;
      }
      const std::string* then = digest_in_run(header, *library);
      if (then == nullptr) {
        throw lacks(library->string() + ", which opgate.toml lists");
      }
      demand_same(*library, *then);
    }
  }
  for (const std::string& name : config.modules) {
    if (std::ranges::find(header.modules.listed, name) == header.modules.listed.end())
      throw lacks(fmt::format("the Python module {}, which opgate.toml lists", name));
  }
  for (const std::string& name : header.modules.listed) {
    if (std::ranges::find(config.modules, name) == config.modules.end())
      throw out_of_date(fmt::format("opgate.toml no longer lists the Python module {}", name));
  }
  std::set<fs::path> compared;  // files of the run whose counterparts here were compared
  for (const auto& [name, file] : modules_here(header.modules, config)) {
    const auto then = header.modules.files.find(name);
    if (then == header.modules.files.end()) throw lacks(file.string());
    demand_same(file, header.files.at(then->second));
    compared.insert(then->second);
  }
  std::set<fs::path> known;
  for (const auto& [file, then] : header.files) {
    const fs::path here = file_here(file, header, config);
    known.insert(fs::weakly_canonical(here));
    if (compared.contains(file)) continue;
    if (fs::exists(here)) {
      demand_same(here, then);
    } else if (here == file && is_inside(file, config.file.parent_path())) {
      throw out_of_date(file + " is gone");
    }
  }
  demand_same_inputs(header, config, out_of_date);
  for (const fs::path& file : sample_files(config.recorded, config.regressions)) {
    if (!known.contains(fs::weakly_canonical(file))) throw lacks(file.string());
  }
  return all_here;
}

}  // namespace opgate
