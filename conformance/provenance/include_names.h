// Which files the #include directives of a source name.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>

namespace opgate {

/// The names, without folders, of the files that `source` includes. None if a directive has a macro in the
/// place of a name, or if the source cannot be read: then any file may be meant. Directives count also where
/// a condition leaves them out.
std::optional<std::set<std::string>> include_names(const std::filesystem::path& source);

}  // namespace opgate
