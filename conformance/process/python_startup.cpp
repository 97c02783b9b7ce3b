#include "process/python_startup.h"

#include <fmt/format.h>
#include <opgate/error.h>

#include <filesystem>

#include "base/files.h"
#include "base/search_path.h"

namespace opgate {

// The first place is that of the build tree, the second that of an installed package.
std::string python_path_with_startup() {
  namespace fs = std::filesystem;
  const fs::path prefix = this_executable().parent_path().parent_path();
  for (const fs::path& folder : {prefix / "python" / "opgate" / "startup", prefix / "startup"}) {
    if (fs::exists(folder / "sitecustomize.py")) return before_present(folder.string(), "PYTHONPATH");
  }
  throw SetupError(
      fmt::format("the OpGate at {} is incomplete: startup/sitecustomize.py is missing; install it again",
                  prefix.string()));
}

}  // namespace opgate
