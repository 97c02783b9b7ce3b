// What the Python modules of a project read while they were imported: data files and environment variables,
// from which their specs may come (opgate/modules/inputs.py notices them).
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "process/command.h"

namespace opgate {

struct ModuleInputs {
  /// By name: the SHA-1 of the contents or the value; empty where there was none.
  std::map<std::string, std::string> files;
  std::map<std::string, std::string> variables;

  bool operator==(const ModuleInputs&) const = default;
};

void to_json(nlohmann::json& json, const ModuleInputs& inputs);
void from_json(const nlohmann::json& json, ModuleInputs& inputs);

/// Empty if there is no such file.
std::string digest_or_none(const std::filesystem::path& file);

/// For a variable as processes of this command see it; empty where it is not set.
std::string digest_of_variable(const std::string& name, const Command& command);

/// Whether this variable only says where a machine or a user keeps things.
bool names_a_place(const std::string& variable);

/// The files whose contents have changed since, which is then what the run itself wrote.
std::vector<std::string> changed_files(const ModuleInputs& since);

}  // namespace opgate
