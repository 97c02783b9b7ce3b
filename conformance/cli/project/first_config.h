// Writes a first opgate.toml, and adds lines to an existing one.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plan/config.h"

namespace opgate {

/// Reads the configuration file `named` or, if that is empty, the nearest opgate.toml in this folder or
/// above it. Returns nothing if there is none. Throws SetupError for a broken one.
std::optional<Config> config_if_any(const std::filesystem::path& named);

struct FirstConfig {
  std::vector<std::filesystem::path> libraries = {};
  std::vector<std::string> modules = {};
  std::vector<std::filesystem::path> python_path = {};
  std::map<std::string, std::string> environment = {};  ///< variables
  std::filesystem::path recorded = {};                  ///< folder of recordings; empty if there is none
};

/// Writes the configuration. Paths below its folder are written relative to it. Throws SetupError.
void write_first_config(const std::filesystem::path& file, const FirstConfig& settings);

/// Adds `value` to the list `key` of an opgate.toml. Returns false, and changes nothing, if the list spans
/// several lines or its line has a comment, so that only its author can add to it. Throws SetupError.
bool add_to_config(const std::filesystem::path& file, const std::string& key, const std::string& value);

}  // namespace opgate
