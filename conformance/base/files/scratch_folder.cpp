#include "base/files/scratch_folder.h"

#include <fmt/format.h>
#include <opgate/error.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

namespace opgate {

ScratchFolder::ScratchFolder(std::string_view name) {
  std::string path = fmt::format("/tmp/{}-XXXXXX", name);
  if (mkdtemp(path.data()) == nullptr)
    throw SetupError(fmt::format("cannot make a folder in /tmp: {}", std::strerror(errno)));
  folder_ = path;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

}  // namespace opgate
