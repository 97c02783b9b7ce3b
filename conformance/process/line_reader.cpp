#include "process/line_reader.h"

#include <unistd.h>

#include <array>
#include <cerrno>

namespace opgate {

std::optional<std::string> LineReader::next() {
  size_t end = read_.find('\n');
  while (end == std::string::npos) {
    std::array<char, 1 << 16> buffer;
    const ssize_t count = read(descriptor_, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return std::nullopt;
    const size_t searched = read_.size();
    read_.append(buffer.data(), static_cast<size_t>(count));
    end = read_.find('\n', searched);
  }
  std::string line = read_.substr(0, end);
  read_.erase(0, end + 1);
  return line;
}

}  // namespace opgate
