// Where the Python modules of a run are now.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "plan/config.h"
#include "run/journal.h"

namespace opgate {

/// By name: the files that a run of now would read for the modules that opgate.toml lists, and for those of
/// `then` that Python finds. No module is imported. Throws SetupError if Python cannot be started.
std::map<std::string, std::filesystem::path> modules_here(const ModulesRead& then, const Config& config);

}  // namespace opgate
