#include "record/log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace opgate {
namespace {

// Opens a new file. The number after the process id makes its name unique, because process ids are reused.
int new_file(const std::string& folder) {
  for (int attempt = 0;; ++attempt) {
    const std::string name = fmt::format("{}/{}-{}.jsonl", folder, getpid(), attempt);
    const int file = open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644);
    if (file >= 0 || errno != EEXIST) return file;
  }
}

}  // namespace

RecordingLog::~RecordingLog() {
  if (file_ >= 0) close(file_);
}

void RecordingLog::write(const nlohmann::json& line) {
  if (folder_.empty()) return;
  if (file_ < 0) file_ = new_file(folder_);
  const std::string text = line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  if (file_ >= 0 && ::write(file_, text.data(), text.size()) == static_cast<ssize_t>(text.size())) return;
  // The recorded program goes on. That recording ends here is reported once.
  std::fprintf(stderr, "opgate record: cannot write in %s: %s; nothing more is recorded in this process\n",
               folder_.c_str(), std::strerror(errno));
  folder_.clear();
}

void RecordingLog::forget_file() {
  if (file_ >= 0) close(file_);
  file_ = -1;
}

}  // namespace opgate
