// Visits what is in a folder and below it, while other processes may change it.
#pragma once

#include <filesystem>
#include <functional>

namespace opgate {

/// Calls `visit` for each entry below the folder; where it returns true for a folder, what is in that one
/// follows. Folders that are removed meanwhile, or that may not be read, are passed over. Throws
/// std::filesystem::filesystem_error for any other failure.
void walk(const std::filesystem::path& folder,
          const std::function<bool(const std::filesystem::directory_entry&)>& visit);

}  // namespace opgate
