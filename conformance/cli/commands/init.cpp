// opgate init: writes a first spec for every operator of a namespace. The Python half does the writing, and
// adds the specs to opgate.toml.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/errors.h"
#include "cli/commands/subcommand.h"
#include "cli/project/first_config.h"
#include "cli/project/project_options.h"
#include "process/run_program.h"
#include "run/project_setup.h"
#include "run/python/programs.h"
#include "run/worker/protocol.h"

namespace opgate::init {
namespace {

namespace fs = std::filesystem;

struct InitOptions {
  fs::path config;
  std::string name_space;
  std::vector<fs::path> libraries;
  std::vector<std::string> modules;
  fs::path into;
  bool registers = false;
};

// Reads the configuration, or writes a first one if there is none. Throws SetupError.
Config configuration(const InitOptions& options) {
  if (const std::optional<Config> present = config_if_any(options.config)) {
    if (!options.libraries.empty() || !options.modules.empty()) {
      throw setup_error(
          "{} exists already: name the library in its `libraries`, or the module in its "
          "`python`, instead of --library and --python",
          present->file.string());
    }
    return *present;
  }
  if (options.libraries.empty() && options.modules.empty()) {
    throw setup_error(
        "it is not known what defines the operators of {}: name it with --library FILE or --python MODULE, "
        "or let `opgate record -- PROGRAM` find it",
        options.name_space);
  }
  std::vector<fs::path> libraries;
  for (const fs::path& library : options.libraries)
    libraries.push_back(fs::absolute(library).lexically_normal());
  const fs::path file = fs::current_path() / "opgate.toml";
  write_first_config(file, {.libraries = libraries, .modules = options.modules});
  fmt::print("wrote {}\n", file.string());
  return read_config(file);
}

// The folder of specs becomes a Python package, so its name must be a Python name. Throws SetupError.
void demand_module_name(const fs::path& into) {
  const std::string name = into.filename();
  const auto is_word = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  if (!name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) == 0 &&
      std::ranges::all_of(name, is_word))
    return;
  throw setup_error("--into {}: the folder becomes a Python package, and '{}' is not a valid package name",
                    into.string(), name);
}

int init(const InitOptions& options) {
  demand_module_name(options.into);
  const Config config = configuration(options);
  config.apply_environment();
  const Setup setup = setup_from(config);
  const fs::path into = config.file.parent_path() / options.into;
  std::vector<std::string> modules = setup.modules;
  std::erase(modules, into.filename());  // no specs: an operator can have only one
  const int status = run_here(python_command(this_program(config), "opgate.first_spec",
                                             {{"namespace", options.name_space},
                                              {"into", into},
                                              {"config", config.file},
                                              {"recorded", config.recorded},
                                              {"libraries", setup.libraries},
                                              {"modules", modules},
                                              {"register", options.registers}}));
  if (!has_succeeded(status)) return kUsageOrSetup;
  fmt::print("next: opgate run; then answer the question marks in {}\n", into.string());
  return kAllKept;
}

std::function<int()> declare(CommandLine& app) {
  app.description(
      "Write a first spec for every operator of a namespace, or for every recorded function of a module, "
      "from its schema and its recorded calls; question marks show what you must decide, and existing files "
      "are kept");
  auto options = std::make_shared<InitOptions>();
  options->into = "opgate_specs";
  app.add_option("NAMESPACE", options->name_space,
                 "namespace of the operators, such as torchvision, or module of the functions")
      .required();
  app.add_option("--config FILE", options->config,
                 "configuration file; by default opgate.toml in this folder or the nearest one above it");
  app.add_option("--library FILE", options->libraries,
                 "library that defines the operators, if there is no opgate.toml yet");
  app.add_option("--python MODULE", options->modules,
                 "Python module that defines the operators, if there is no opgate.toml yet");
  app.add_option("--into FOLDER", options->into,
                 "folder for the specs, which becomes a Python package beside the configuration")
      .shows_default();
  app.add_flag("--register", options->registers,
               "also write a draft that registers each function as an operator, with a fake kernel and, if "
               "gradients were computed, a backward; the specs are those of the operators");
  return [=] { return init(*options); };
}

OPGATE_REGISTER_SUBCOMMAND(init, {"init", &declare});

}  // namespace
}  // namespace opgate::init
