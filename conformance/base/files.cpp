#include "base/files.h"

#include <fstream>
#include <iterator>

namespace opgate {

std::filesystem::path this_executable() { return std::filesystem::read_symlink("/proc/self/exe"); }

std::string content_of(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace opgate
