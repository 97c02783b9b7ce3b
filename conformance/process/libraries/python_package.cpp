#include "process/libraries/python_package.h"

#include "base/errors.h"
#include "base/files/files.h"
#include "base/files/search_path.h"

namespace opgate {

namespace fs = std::filesystem;

fs::path python_package() {
  const fs::path engine = this_executable().parent_path().parent_path();
  const fs::path built = engine / "python" / "opgate";
  return fs::exists(built) ? built : engine.parent_path().parent_path();  // opgate/built/torch-2.15
}

std::string python_path_with_startup() {
  const fs::path folder = python_package() / "startup";
  if (fs::exists(folder / "sitecustomize.py")) return before_present(folder.string(), "PYTHONPATH");
  throw setup_error("the OpGate at {} is incomplete: startup/sitecustomize.py is missing; install it again",
                    python_package().string());
}

}  // namespace opgate
