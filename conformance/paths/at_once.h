// One package, run from several threads at the same time, as a server does.
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace opgate {

/// Loads `file` for several threads, has all of them run it at once on values of their own, and compares each
/// result with what the same values gave alone. What went wrong, by call; a run that raises goes wrong for
/// every call. Throws SetupError as Package does.
std::map<std::string, std::string> run_at_once(const std::filesystem::path& file);

}  // namespace opgate
