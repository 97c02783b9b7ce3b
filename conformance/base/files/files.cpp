#include "base/files/files.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/errors.h"
#include "base/files/descriptor.h"

namespace opgate {

std::filesystem::path this_executable() { return std::filesystem::read_symlink("/proc/self/exe"); }

std::filesystem::path this_library() {
  Dl_info info{};
  dladdr(reinterpret_cast<const void*>(&this_library), &info);
  return info.dli_fname;
}

std::string content_of(const std::filesystem::path& file) {
  const Descriptor opened(open(file.c_str(), O_RDONLY | O_CLOEXEC));
  return opened.is_open() ? content_until_end(opened.get()) : "";
}

std::string content_until_end(int descriptor) {
  std::string said;
  std::array<char, 1 << 16> part;
  while (true) {
    const ssize_t length = read(descriptor, part.data(), part.size());
    if (length == 0 || (length < 0 && errno != EINTR)) return said;
    if (length > 0) said.append(part.data(), static_cast<size_t>(length));
  }
}

bool is_inside(const std::filesystem::path& file, const std::filesystem::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), file.begin(), file.end()).first == folder.end();
}

SetupError cannot_write(const std::filesystem::path& file, std::string_view remedy) {
  return setup_error("cannot write {}: {}; {}", file.string(), std::strerror(errno), remedy);
}

}  // namespace opgate
