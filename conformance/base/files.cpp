#include "base/files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

namespace opgate {

std::filesystem::path this_executable() { return std::filesystem::read_symlink("/proc/self/exe"); }

std::string content_of(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

bool is_inside(const std::filesystem::path& file, const std::filesystem::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), file.begin(), file.end()).first == folder.end();
}

SetupError cannot_write(const std::filesystem::path& file, std::string_view remedy) {
  return SetupError(fmt::format("cannot write {}: {}; {}", file.string(), std::strerror(errno), remedy));
}

}  // namespace opgate
