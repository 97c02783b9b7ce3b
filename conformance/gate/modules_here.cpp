#include "gate/modules_here.h"

#include <nlohmann/json.hpp>

#include "base/errors.h"
#include "process/run_program.h"
#include "run/python/programs.h"

namespace opgate {

using nlohmann::json;

std::map<std::string, std::filesystem::path> modules_here(const ModulesRead& then, const Config& config) {
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
  std::map<std::string, std::filesystem::path> files;
  for (const auto& [name, file] : said.items()) files[name] = file.get<std::string>();
  return files;
}

}  // namespace opgate
