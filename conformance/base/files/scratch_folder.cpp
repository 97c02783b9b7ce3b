#include "base/files/scratch_folder.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/errors.h"

namespace opgate {

ScratchFolder::ScratchFolder(std::string_view name) {
  std::string path = fmt::format("/tmp/{}-XXXXXX", name);
  if (mkdtemp(path.data()) == nullptr)
    throw setup_error("cannot make a folder in /tmp: {}", std::strerror(errno));
  folder_ = path;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

}  // namespace opgate
