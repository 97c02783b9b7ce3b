// Folders of samples, one JSON file each, that opgate.toml names.
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

namespace opgate {

/// Calls `read` with what each *.json of the folder holds, in the order of their names, and its path. Throws
/// SpecError that begins with the file's path, for what is no JSON, lacks something (`what` says what it
/// should be), or is refused by `read` with a SpecError.
void for_each_json(const std::filesystem::path& folder, const std::string& what,
                   const std::function<void(const nlohmann::json& content, const std::string& file)>& read);

}  // namespace opgate
