#include "plan/config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>

#include "base/errors.h"
#include "base/files/files.h"
#include "base/files/toml_nodes.h"

namespace opgate {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kFileName = "opgate.toml";

template <class Member>
struct Setting {
  std::string_view key;
  Member Config::*member;
};
constexpr std::array kNames{Setting{"libraries", &Config::libraries}, Setting{"specs", &Config::specs},
                            Setting{"python", &Config::modules}};
constexpr std::array kFolders{Setting{"python_path", &Config::python_path},
                              Setting{"library_path", &Config::library_path},
                              Setting{"sources", &Config::sources}, Setting{"packages", &Config::packages}};
constexpr std::array kPlaces{
    Setting{"output", &Config::output},           Setting{"recorded", &Config::recorded},
    Setting{"regressions", &Config::regressions}, Setting{"ledger", &Config::ledger},
    Setting{"waivers", &Config::waivers},         Setting{"evidence", &Config::evidence},
    Setting{"signers", &Config::signers}};

// The member of the setting with this key; none if no setting has it.
template <class Settings>
auto member(const Settings& settings, std::string_view key) {
  const auto found = std::ranges::find(settings, key, &Settings::value_type::key);
  return found == settings.end() ? std::nullopt : std::optional(found->member);
}

std::vector<std::string> strings(const toml::node& node, const fs::path& file, std::string_view key) {
  return TomlNodes(file, fmt::format("`{}` must be a list of strings", key)).texts(node);
}

std::map<std::string, std::string> variables(const toml::node& node, const fs::path& file) {
  return TomlNodes(file, "`environment` must be a table of strings, such as { NAME = \"1\" }")
      .texts_by_name(node);
}

BuildRecipe recipe(const toml::node& node, const fs::path& file) {
  BuildRecipe recipe;
  const TomlNodes nodes(
      file,
      "`build` must be a table such as { command = \"make\", folder = \"build\" }, where the "
      "folder may be left out");
  const toml::table& table = nodes.table(node);
  if (!table.contains("command")) nodes.wrong(node);
  for (const auto& [key, value] : table) {
    if (key == "command")
      recipe.command = nodes.text(value);
    else if (key == "folder")
      recipe.folder = nodes.text(value);
    else
      nodes.wrong(value);
  }
  return recipe;
}

MutationRecipe mutation_recipe(const toml::node& node, const fs::path& file) {
  MutationRecipe recipe;
  const TomlNodes nodes(
      file,
      "`mutation` must be a table of sources, without (lists of strings), command, folder, "
      "equivalent (a string each), environment (a table of strings) and least (a percentage)");
  for (const auto& [key, value] : nodes.table(node)) {
    if (key == "sources")
      recipe.sources = strings(value, file, "mutation.sources");
    else if (key == "without")
      recipe.without = strings(value, file, "mutation.without");
    else if (key == "command")
      recipe.build.command = nodes.text(value);
    else if (key == "folder")
      recipe.build.folder = nodes.text(value);
    else if (key == "environment")
      recipe.environment = variables(value, file);
    else if (key == "equivalent")
      recipe.equivalent = file.parent_path() / nodes.text(value);
    else if (const auto least = value.value<double>();
             key == "least" && least && *least >= 0 && *least <= 100)
      recipe.least = *least;
    else
      nodes.wrong(value);
  }
  return recipe;
}

// The folders of `builds` that kernel-builder may have made, for an error that suggests one of them.
std::vector<std::string> builds_in(const fs::path& folder) {
  std::vector<std::string> builds;
  std::error_code none;
  for (const fs::path& place : {folder, folder / "build"}) {
    for (const fs::directory_entry& entry : fs::directory_iterator(place, none)) {
      if (fs::exists(entry.path() / "metadata.json")) builds.push_back(entry.path().string());
    }
  }
  std::ranges::sort(builds);
  return builds;
}

// Adds the kernels, with their libraries and modules.
void add_kernels(const toml::node& node, const fs::path& base, Config& config) {
  const std::string place = fmt::format("{}:{}", config.file.string(), node.source().begin.line);
  for (const std::string& name : strings(node, config.file, "kernels")) {
    const fs::path folder = (base / name).lexically_normal();
    const auto kernel = read_kernel_folder(folder);
    if (!kernel) {
      const std::vector<std::string> builds = builds_in(folder);
      throw setup_error(
          "{}: `kernels` names {}, which has no metadata.json with an \"id\" and a \"name\", as "
          "kernel-builder writes it; {}",
          place, folder.string(),
          builds.empty() ? "build the kernel, or name the folder of one build, such as "
                           "build/torch29-cxx11-cpu-x86_64-linux"
                         : fmt::format("name one of {}", fmt::join(builds, ", ")));
    }
    for (const KernelFolder& other : config.kernels) {
      if (other.name == kernel->name)
        throw setup_error("{}: `kernels` names two builds of {}, {} and {}; name one of them", place,
                          other.name, other.folder.string(), folder.string());
    }
    config.kernels.push_back(*kernel);
  }
}

std::vector<fs::path> folders(const std::vector<std::string>& names, const fs::path& base) {
  std::vector<fs::path> paths;
  for (const std::string& name : names) paths.push_back(base / name);
  return paths;
}

// The first of `places` that has a file `name`. Throws SetupError that lists `places` where none has it.
fs::path first_in(const std::vector<fs::path>& places, const fs::path& name, const fs::path& config) {
  for (const fs::path& place : places) {
    if (fs::exists(place / name)) return place / name;
  }
  std::vector<std::string> looked;
  for (const fs::path& place : places) looked.push_back(place.string());
  throw setup_error("library {} is missing; looked in {}. Build it, or give its path in {}", name.string(),
                    fmt::join(looked, ", "), config.string());
}

fs::path program_library_folder() { return this_executable().parent_path().parent_path() / "lib"; }

}  // namespace

std::optional<fs::path> nearest_config() {
  for (fs::path folder = fs::current_path();; folder = folder.parent_path()) {
    if (fs::exists(folder / kFileName)) return folder / kFileName;
    if (folder == folder.root_path()) return std::nullopt;
  }
}

Config read_config(fs::path file) {
  if (file.empty()) {
    const auto nearest = nearest_config();
    if (!nearest) {
      throw setup_error("no {} in {} or above it; write one, or name it with --config", kFileName,
                        fs::current_path().string());
    }
    file = *nearest;
  }
  if (fs::is_directory(file)) {
    throw setup_error("--config names a folder, {}; name the file in it", file.string());
  }
  Config config;
  config.file = fs::absolute(file).lexically_normal();
  const fs::path base = config.file.parent_path();
  config.output = base / ".opgate";
  if (!fs::exists(file)) throw setup_error("{}: no such file", file.string());
  const toml::table table = parsed_toml(file);
  for (const auto& [key_, node] : table) {
    const std::string_view key = key_.str();
    if (const auto names = member(kNames, key))
      config.*(*names) = strings(node, file, key);
    else if (const auto places = member(kFolders, key))
      config.*(*places) = folders(strings(node, file, key), base);
    else if (const auto place = member(kPlaces, key); place && node.is_string())
      config.*(*place) = (base / *node.value<std::string>()).lexically_normal();
    else if (key == "kernels")
      add_kernels(node, base, config);
    else if (key == "build")
      config.build = recipe(node, file);
    else if (key == "mutation")
      config.mutation = mutation_recipe(node, config.file);
    else if (key == "environment")
      config.environment = variables(node, file);
    else
      throw setup_error(
          "{}:{}: `{}` is no setting of OpGate; there are libraries, specs, python, kernels, "
          "python_path, library_path, sources, packages (lists of strings), output, recorded, regressions, "
          "ledger, waivers, evidence, signers (a string each), build, mutation and environment (tables)",
          file.string(), node.source().begin.line, key);
  }
  // After the keys, which may come in any order.
  for (const KernelFolder& kernel : config.kernels) {
    for (const fs::path& library : kernel.libraries) config.libraries.push_back(library.string());
    config.modules.push_back(kernel.name);
  }
  return config;
}

fs::path Config::find_library(const std::string& name) const {
  for (const KernelFolder& kernel : kernels) {
    if (std::ranges::find(kernel.libraries, fs::path(name)) != kernel.libraries.end()) return name;
  }
  if (!libraries_from.empty())
    return first_in({libraries_from, libraries_from / "lib"}, fs::path(name).filename(), file);
  const fs::path base = file.parent_path();
  if (name.find('/') != std::string::npos) return base / name;
  std::vector<fs::path> places{base};
  places.insert(places.end(), library_path.begin(), library_path.end());
  if (const char* variable = std::getenv("OPGATE_LIBRARY_PATH")) {
    std::istringstream entries(variable);
    for (std::string entry; std::getline(entries, entry, ':');) places.emplace_back(entry);
  }
  places.push_back(program_library_folder());
  return first_in(places, name, file);
}

void Config::apply_environment() const {
  for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), /*overwrite=*/0);
}

}  // namespace opgate
