#include "run/python/module_inputs.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

#include "base/json_fields.h"
#include "base/sha1.h"
#include "provenance/file_digest.h"

namespace opgate {

OPGATE_JSON_FIELDS(ModuleInputs, files, variables)

std::string digest_or_none(const std::filesystem::path& file) {
  std::error_code unreadable;
  return std::filesystem::is_regular_file(file, unreadable) ? digest_of_file(file) : "";
}

std::string digest_of_variable(const std::string& name, const Command& command) {
  if (const auto given = command.environment.find(name); given != command.environment.end())
    return sha1_of(given->second);
  const char* const value = std::getenv(name.c_str());
  return value == nullptr ? "" : sha1_of(value);
}

bool names_a_place(const std::string& variable) {
  constexpr std::array<std::string_view, 9> kPlaces{"HOME", "HOSTNAME", "LOGNAME", "OLDPWD", "PATH",
                                                    "PWD",  "SHELL",    "TMPDIR",  "USER"};
  return std::ranges::find(kPlaces, variable) != kPlaces.end() || variable.starts_with("XDG_");
}

std::vector<std::string> changed_files(const ModuleInputs& since) {
  std::vector<std::string> changed;
  for (const auto& [file, then] : since.files) {
    if (digest_or_none(file) != then) changed.push_back(file);
  }
  return changed;
}

}  // namespace opgate
