// Loads the libraries of operators and specs into this process.
#pragma once

#include <filesystem>
#include <vector>

namespace opgate {

/// Loads one library, which registers its operators or specs. Throws SetupError with the loader's own
/// reason.
void load_library(const std::filesystem::path& file);

/// The files that this process has loaded since the first load_library(): the libraries, and what they depend on,
/// but not the system's own libraries. Sorted.
std::vector<std::filesystem::path> files_loaded_with_libraries();

}  // namespace opgate
