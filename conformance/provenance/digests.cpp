#include "provenance/digests.h"

#include <c10/util/hash.h>
#include <dlfcn.h>

#include <algorithm>
#include <filesystem>

#include "base/files.h"
#include "process/library.h"
#include "spec/json_folder.h"

namespace opgate {
namespace fs = std::filesystem;

std::string libraries_digest(const Config& config, const std::string& python_sources) {
  std::string bytes = python_sources;
  for (const auto* names : {&config.libraries, &config.specs}) {
    for (const std::string& name : *names) bytes += content_of(config.find_library(name));
  }
  return c10::sha1(bytes).str();
}

std::vector<fs::path> sample_files(const fs::path& recorded, const fs::path& regressions) {
  std::vector<fs::path> files;
  for (const fs::path& folder : {recorded, regressions}) {
    if (folder.empty() || !fs::is_directory(folder)) continue;
    for (const fs::path& file : json_files(folder)) files.push_back(file);
  }
  return files;
}

std::map<std::string, std::string> digests_of_files(const Config& config,
                                                    const std::vector<std::string>& others) {
  std::map<std::string, std::string> digests;
  const auto add = [&](const fs::path& file) {
    digests.try_emplace(fs::weakly_canonical(file), c10::sha1(content_of(file)).str());
  };
  for (const auto* names : {&config.libraries, &config.specs}) {
    for (const std::string& name : *names) add(config.find_library(name));
  }
  std::ranges::for_each(others, add);
  std::ranges::for_each(files_loaded_with_libraries(), add);
  std::ranges::for_each(sample_files(config.recorded, config.regressions), add);
  return digests;
}

std::string engine_digest() {
  Dl_info info{};
  dladdr(reinterpret_cast<const void*>(&engine_digest), &info);
  return c10::sha1(content_of(info.dli_fname)).str();
}

}  // namespace opgate
