#include "provenance/file_digest.h"

#include <fmt/format.h>
#include <opgate/error.h>
#include <sys/stat.h>
#include <time.h>

#include <cstdint>
#include <optional>

#include "base/files/atomic_file.h"
#include "base/files/cache_folder.h"
#include "base/files/files.h"
#include "base/sha1.h"

namespace opgate {
namespace kept_digests {

namespace fs = std::filesystem;

constexpr off_t kLarge = 1 << 18;  // a smaller file is read as fast as its kept digest
constexpr int64_t kNanoseconds = 1'000'000'000;
// A file that is written twice between two ticks of the file system's clock has one time for both contents.
constexpr int64_t kTick = kNanoseconds;

int64_t nanoseconds_of(const timespec& time) { return time.tv_sec * kNanoseconds + time.tv_nsec; }

// What no write to the file leaves as it was: programs can set the time of modification, but not that of the
// last change.
std::string identity_of(const struct stat& file) {
  return fmt::format("{} {} {} {} {}", file.st_dev, file.st_ino, file.st_size, nanoseconds_of(file.st_mtim),
                     nanoseconds_of(file.st_ctim));
}

bool may_change_unseen(const struct stat& file) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return nanoseconds_of(now) - nanoseconds_of(file.st_ctim) < kTick;
}

fs::path kept_digest_of(const fs::path& file) {
  const fs::path folder = cache_folder();
  return folder.empty() ? folder : folder / "digests" / sha1_of(fs::absolute(file).string());
}

std::optional<std::string> recalled(const fs::path& kept, const std::string& identity) {
  const std::string text = content_of(kept);
  const std::string begin = identity + " ";
  if (!text.starts_with(begin)) return std::nullopt;
  return text.substr(begin.size());
}

}  // namespace kept_digests

std::string digest_of_file(const std::filesystem::path& file) {
  using namespace kept_digests;
  struct stat before {};
  const bool is_large = stat(file.c_str(), &before) == 0 && before.st_size >= kLarge;
  const fs::path kept = is_large ? kept_digest_of(file) : fs::path();
  if (kept.empty()) return sha1_of(content_of(file));
  const std::string identity = identity_of(before);
  if (const auto known = recalled(kept, identity)) return *known;
  const bool is_settled = !may_change_unseen(before);
  const std::string digest = sha1_of(content_of(file));
  struct stat after {};
  if (is_settled && stat(file.c_str(), &after) == 0 && identity_of(after) == identity) {
    try {
      AtomicFile(kept, identity + " " + digest).commit();
    } catch (const SetupError&) {  // the cache only saves time: nothing depends on it
    }
  }
  return digest;
}

}  // namespace opgate
