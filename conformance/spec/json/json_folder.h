// Reads the folders of JSON files, with samples, that opgate.toml names.
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace opgate {

/// The *.json files of the folder, in the order of their names.
std::vector<std::filesystem::path> json_files(const std::filesystem::path& folder);

/// Calls `read` with the content and the path of each *.json file of the folder, in the order of their
/// names. Throws SpecError that begins with the file's path if the file is not JSON, lacks a key, or is
/// refused by `read` with a SpecError. `what` begins the message for the first two: "not a record of calls:
/// ".
void for_each_json(const std::filesystem::path& folder, const std::string& what,
                   const std::function<void(const nlohmann::json& content, const std::string& file)>& read);

}  // namespace opgate
