// Loads the libraries of operators and specs into this process.
#pragma once

#include <filesystem>

namespace opgate {

/// Loads one library, which registers its operators or specs. Throws SetupError with the loader's own
/// reason.
void load_library(const std::filesystem::path& file);

}  // namespace opgate
