#include "base/files/atomic_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "base/errors.h"

namespace opgate {

AtomicFile::AtomicFile(std::filesystem::path file, std::string_view content) : file_(std::move(file)) {
  std::error_code ignored;  // if the folder cannot be made, opening the stream fails, too
  std::filesystem::create_directories(file_.parent_path(), ignored);
  beside_ = fmt::format("{}.{}", file_.string(), getpid());
  std::ofstream stream(beside_, std::ios::binary | std::ios::trunc);
  stream.write(content.data(), static_cast<std::streamsize>(content.size()));
  if (stream.flush()) return;
  const int reason = errno;
  std::filesystem::remove(beside_, ignored);
  throw setup_error("cannot write {}: {}", file_.string(), std::strerror(reason));
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : file_(std::move(other.file_)), beside_(std::exchange(other.beside_, {})) {}

AtomicFile::~AtomicFile() {
  std::error_code ignored;
  if (!beside_.empty()) std::filesystem::remove(beside_, ignored);
}

void AtomicFile::commit() {
  std::error_code failed;
  std::filesystem::rename(beside_, file_, failed);
  if (failed) throw setup_error("cannot write {}: {}", file_.string(), failed.message());
  beside_.clear();
}

}  // namespace opgate
