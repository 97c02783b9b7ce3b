#include "base/files/cache_folder.h"

#include <cstdlib>

namespace opgate {

std::filesystem::path cache_folder() {
  namespace fs = std::filesystem;
  if (const char* given = std::getenv("XDG_CACHE_HOME"); given != nullptr && *given == '/')
    return fs::path(given) / "opgate";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/')
    return fs::path(home) / ".cache" / "opgate";
  return {};
}

}  // namespace opgate
