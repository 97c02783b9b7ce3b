// Finds an opgate.toml, or writes a first one.
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
  std::vector<std::filesystem::path> kernels = {};  ///< folders that kernel-builder has made
  std::vector<std::filesystem::path> python_path = {};
  std::map<std::string, std::string> environment = {};  ///< variables
  std::filesystem::path recorded = {};                  ///< folder of recordings; empty if there is none
};

/// Writes the configuration. Paths below its folder are written relative to it. Throws SetupError.
void write_first_config(const std::filesystem::path& file, const FirstConfig& settings);

}  // namespace opgate
