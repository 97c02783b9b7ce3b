// opgate init: a first spec for every operator of a namespace; written by the Python half.
#include <fmt/format.h>
#include <opgate/error.h>
#include <sys/wait.h>

#include <algorithm>
#include <cctype>

#include "cli/first_config.h"
#include "cli/foreground.h"
#include "cli/project.h"
#include "cli/subcommand.h"
#include "run/protocol.h"

namespace opgate::init {
namespace {

namespace fs = std::filesystem;

struct InitOptions {
  fs::path config;
  std::string name_space;
  std::vector<fs::path> libraries;
  std::vector<std::string> modules;
  fs::path into;
};

// A configuration to begin with, or the one that is there.
Config configuration(const InitOptions& options) {
  if (const std::optional<Config> present = config_if_any(options.config)) {
    if (!options.libraries.empty() || !options.modules.empty()) {
      throw SetupError(
          fmt::format("{} says what is loaded: write --library and --python there", present->file.string()));
    }
    return *present;
  }
  if (options.libraries.empty() && options.modules.empty()) {
    throw SetupError(fmt::format(
        "what defines the operators of {}? Name it with --library FILE or --python MODULE, or let `opgate "
        "record -- PROGRAM` find out",
        options.name_space));
  }
  std::vector<fs::path> libraries;
  for (const fs::path& library : options.libraries)
    libraries.push_back(fs::absolute(library).lexically_normal());
  const fs::path file = fs::current_path() / "opgate.toml";
  write_first_config(file, {.libraries = libraries, .modules = options.modules});
  fmt::print("wrote {}\n", file.string());
  return read_config(file);
}

// The folder of specs is a Python package.
void demand_module_name(const fs::path& into) {
  const std::string name = into.filename();
  const auto is_word = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  if (!name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) == 0 &&
      std::ranges::all_of(name, is_word))
    return;
  throw SetupError(fmt::format("--into {}: the folder becomes a Python package, and '{}' is no name of one",
                               into.string(), name));
}

int init(const InitOptions& options) {
  demand_module_name(options.into);
  const Config config = configuration(options);
  config.apply_environment();
  const Setup setup = setup_from(config);
  const fs::path into = config.file.parent_path() / options.into;
  Command command = python_command(this_program(config), "opgate.first_spec");
  const auto add = [&](const char* option, const std::string& value) {
    command.words.insert(command.words.end(), {option, value});
  };
  command.words.push_back(options.name_space);
  add("--into", into);
  if (!config.recorded.empty()) add("--recorded", config.recorded);
  for (const std::string& library : setup.libraries) add("--library", library);
  const std::string module = into.filename();
  for (const std::string& present : setup.modules) {
    if (present != module) add("--module", present);  // specs: an operator can have one only
  }
  const int status = run_here(command);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return kUsageOrSetup;

  const fs::path folder = into.parent_path().lexically_relative(config.file.parent_path());
  const bool added = add_to_config(config.file, "python", module) &&
                     add_to_config(config.file, "python_path", folder.string());
  if (!added) {
    fmt::print("add to {}:  python = [..., \"{}\"] and python_path = [..., \"{}\"]\n", config.file.string(),
               module, folder.string());
  }
  fmt::print("next: opgate run; then answer the question marks in {}\n", into.string());
  return kAllKept;
}

std::function<int()> declare(CommandLine& app) {
  app.description(
      "Write a first spec for every operator of a namespace, from its schema and the calls that were "
      "recorded, "
      "with what is open marked by a question mark. What is there already is kept");
  auto options = std::make_shared<InitOptions>();
  options->into = "opgate_specs";
  app.add_option("NAMESPACE", options->name_space, "of the operators: torchvision").required();
  app.add_option("--config", options->config, "the configuration; by default the nearest opgate.toml upwards")
      .type_name("FILE");
  app.add_option("--library", options->libraries,
                 "a library that defines them, where there is no opgate.toml yet")
      .type_name("FILE");
  app.add_option("--python", options->modules, "a Python module that does, likewise").type_name("MODULE");
  app.add_option("--into", options->into, "folder of the specs, a Python package, beside the configuration")
      .type_name("FOLDER")
      .shows_default();
  return [=] { return init(*options); };
}

OPGATE_REGISTER_SUBCOMMAND(init, {"init", &declare});

}  // namespace
}  // namespace opgate::init
