#include "provenance/walk.h"

#include <system_error>

namespace opgate {

namespace fs = std::filesystem;

void walk(const fs::path& folder, const std::function<bool(const fs::directory_entry&)>& visit) {
  std::error_code failed;
  auto entry = fs::directory_iterator(folder, fs::directory_options::skip_permission_denied, failed);
  for (; !failed && entry != fs::directory_iterator(); entry.increment(failed)) {
    if (visit(*entry) && entry->is_directory()) walk(entry->path(), visit);
  }
  if (failed && failed != std::errc::no_such_file_or_directory)
    throw fs::filesystem_error("cannot list the folder", folder, failed);
}

}  // namespace opgate
