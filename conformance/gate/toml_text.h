// What is kept as text, an operator a file: the ledger, and evidence from other machines.
#pragma once

#include <toml++/toml.h>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace opgate {

/// With quotes. JSON's strings are TOML's, too.
std::string toml_string(std::string_view text);

/// The file of an operator in its folder: "add.Tensor.toml", "my--add.toml" for my::add.
std::filesystem::path toml_file(const std::filesystem::path& folder, const std::string& id);

/// The inverse: the operator.
std::string id_of_toml(const std::filesystem::path& file);

/// All in the folder, sorted.
std::vector<std::filesystem::path> toml_files_of(const std::filesystem::path& folder);

/// Throws SetupError, with file and line, for conflict markers of a merge and for what is no TOML; `writer`
/// is the command that writes the file: "`opgate accept`".
toml::table parsed_toml(const std::filesystem::path& file, std::string_view writer);

}  // namespace opgate
