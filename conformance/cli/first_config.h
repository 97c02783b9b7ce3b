// An opgate.toml for who has none yet, and lines added to one that is there.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "plan/config.h"

namespace opgate {

/// The configuration that `named` is, or else the nearest opgate.toml upwards; none where there is none.
/// Throws SetupError for a broken one.
std::optional<Config> config_if_any(const std::filesystem::path& named);

struct FirstConfig {
  std::vector<std::filesystem::path> libraries = {};
  std::vector<std::string> modules = {};
  std::vector<std::filesystem::path> python_path = {};
  std::filesystem::path recorded = {};  ///< empty for none
};

/// Writes it; files below its folder by relative paths. Throws SetupError.
void write_first_config(const std::filesystem::path& file, const FirstConfig& settings);

/// Adds `value` to the list `key` of an opgate.toml that has it on one line, or not at all. False where the
/// text is otherwise, so that only its author can: then nothing is changed. Throws SetupError.
bool add_to_config(const std::filesystem::path& file, const std::string& key, const std::string& value);

}  // namespace opgate
