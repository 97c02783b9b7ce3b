// Loads the libraries of operators and specs into this process.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "process/libraries/load_failure.h"

namespace opgate {

/// Loads one library, which registers its operators or specs. It finds symbols that it lacks in libraries
/// that were loaded before. Returns why the dynamic loader refuses it, if it does. Throws SetupError if there
/// is no such file, or where the library's registrations fail.
std::optional<LoadFailure> try_load(const std::filesystem::path& file);

/// The same; throws SetupError if the loader refuses the library, too.
void load_library(const std::filesystem::path& file);

/// Whether another library that was loaded after this one has found symbols in it.
bool lends_symbols(const std::filesystem::path& file);

/// The folder with the libraries of the torch that this process is linked with.
std::filesystem::path torch_folder();

/// The files that this process has loaded since the first load_library(): the libraries, and what they depend
/// on, but not the libraries of the system, of torch, and of the packages for accelerators that torch
/// requires. Sorted.
std::vector<std::filesystem::path> files_loaded_with_libraries();

}  // namespace opgate
