// Runs one package from several threads at the same time, as a server does.
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace opgate {

/// Loads `file` for several threads, lets all of them run it at once on values of their own, and compares
/// each result with what the same values give alone. Returns what went wrong, by the id of the call; if a
/// run raises, that counts for every call. Throws SetupError as Package does.
std::map<std::string, std::string> run_at_once(const std::filesystem::path& file);

}  // namespace opgate
