// TOML folders with one file per operator: the ledger and device evidence.
#pragma once

#include <toml++/toml.h>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace opgate {

/// The text as a TOML string, with quotes. Every JSON string is also a TOML string.
std::string toml_string(std::string_view text);

/// The file of an operator in the folder: "add.Tensor.toml", "my--add.toml" for my::add.
std::filesystem::path toml_file(const std::filesystem::path& folder, const std::string& id);

/// The inverse of toml_file(): the id of the operator.
std::string id_of_toml(const std::filesystem::path& file);

/// All TOML files in the folder, sorted.
std::vector<std::filesystem::path> toml_files_of(const std::filesystem::path& folder);

/// Parses the file. Throws SetupError, with file and line, for conflict markers of a merge and for text
/// that is not TOML. `writer` is the command that writes the file, for the message: "`opgate accept`".
toml::table merged_toml(const std::filesystem::path& file, std::string_view writer);

}  // namespace opgate
