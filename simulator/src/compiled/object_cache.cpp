#include "compiled/object_cache.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "environment/setting.h"

namespace opgate::simulator {
namespace object_cache {

namespace fs = std::filesystem;

// After the object comes the digest of its bytes: loading a file that was cut off would end the process.
constexpr std::string_view kMark = "OpGate kernel 1\n";
constexpr std::size_t kTrailerBytes = kMark.size() + std::tuple_size_v<Digest>;

std::string trailer_of(std::string_view object) {
  const Digest digest = sha256(object);
  return std::string(kMark) + std::string(digest.begin(), digest.end());
}

std::optional<std::string> contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

bool is_whole(const std::string& path) {
  const std::optional<std::string> bytes = contents(path);
  if (!bytes || bytes->size() < kTrailerBytes) return false;
  const std::size_t size = bytes->size() - kTrailerBytes;
  return bytes->compare(size, kTrailerBytes, trailer_of(std::string_view(*bytes).substr(0, size))) == 0;
}

bool append_trailer(const std::string& path) {
  const std::optional<std::string> object = contents(path);
  if (!object || object->empty()) return false;
  std::ofstream file(path, std::ios::binary | std::ios::app);
  file << trailer_of(*object);
  file.close();
  return !file.fail();
}

// A folder of its own for the files of one compilation, beside the objects: renaming works within a file
// system.
class WorkFolder {
 public:
  explicit WorkFolder(const std::string& parent) : path_(parent + "/build-XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr) path_.clear();
  }
  ~WorkFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

LoadedObject open(const std::string& path) {
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return nullptr;
  return {handle, [](void* object) { dlclose(object); }};
}

}  // namespace object_cache

std::string ObjectCache::default_folder() {
  const auto value = [](const char* name) {
    const char* const text = std::getenv(name);
    return std::string(text == nullptr ? "" : text);
  };
  if (const std::string own = value_of(Setting::cache); !own.empty()) return own;
  if (const std::string caches = value("XDG_CACHE_HOME"); !caches.empty()) return caches + "/opgate/kernels";
  const std::string home = value("HOME");
  return home.empty() ? "" : home + "/.cache/opgate/kernels";
}

LoadedObject ObjectCache::load(const Digest& key) const {
  if (folder_.empty()) return nullptr;
  const std::string path = path_of(key);
  return object_cache::is_whole(path) ? object_cache::open(path) : nullptr;
}

LoadedObject ObjectCache::build(const Digest& key, const std::string& code, const CCompiler& compiler,
                                std::string& why) const {
  using namespace object_cache;
  if (folder_.empty()) {
    why = "there is no folder for compiled kernels: neither " + name_of(Setting::cache) + " nor HOME is set";
    return nullptr;
  }
  std::error_code failed;
  fs::create_directories(folder_, failed);
  const WorkFolder work(folder_);
  if (work.path().empty()) {
    why = "the folder `" + folder_ + "` cannot be written";
    return nullptr;
  }
  const std::string source = work.path() + "/kernel.c";
  const std::string object = work.path() + "/kernel.so";
  std::ofstream file(source, std::ios::binary);
  file << code;
  file.close();
  if (file.fail()) {
    why = "`" + source + "` cannot be written";
    return nullptr;
  }
  if (!compiler.compile(source, object, why)) return nullptr;
  if (!append_trailer(object)) {
    why = "`" + object + "` cannot be written";
    return nullptr;
  }
  // The last process to rename wins; both files are the same.
  fs::rename(object, path_of(key), failed);
  LoadedObject loaded = failed ? nullptr : open(path_of(key));
  if (loaded == nullptr) why = "`" + path_of(key) + "` cannot be loaded";
  return loaded;
}

}  // namespace opgate::simulator
