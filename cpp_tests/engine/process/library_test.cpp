// The files that are loaded with an operator library, whose digests a run keeps.
#include "process/libraries/library.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace opgate {
namespace {

namespace fs = std::filesystem;

// torch/lib/libtorch_global_deps.so depends on all CUDA libraries of the wheel, as a library does that
// CMake's find_package(Torch) links: digests of them took 16 s a run.
TEST(FilesLoadedWithLibraries, AreNotThoseOfTorch) {
  const fs::path folder = torch_folder();
  load_library(folder / "libtorch_global_deps.so");
  const std::string packages = folder.parent_path().parent_path();
  const std::vector<fs::path> files = files_loaded_with_libraries();
  EXPECT_TRUE(
      std::ranges::none_of(files, [&](const fs::path& file) { return file.native().starts_with(packages); }))
      << "the first: " << files.front();
}

}  // namespace
}  // namespace opgate
