#include "provenance/digests.h"

#include <algorithm>

#include "base/files/files.h"
#include "base/sha1.h"
#include "process/libraries/library.h"
#include "provenance/file_digest.h"
#include "spec/json/json_folder.h"

namespace opgate {
namespace fs = std::filesystem;

std::string libraries_digest(const Config& config, const std::string& python_sources) {
  std::string digests = python_sources;
  for (const auto* names : {&config.libraries, &config.specs}) {
    for (const std::string& name : *names) digests += digest_of_file(config.find_library(name));
  }
  return sha1_of(digests);
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
    const auto [known, is_new] = digests.try_emplace(fs::weakly_canonical(file));
    if (is_new) known->second = digest_of_file(file);
  };
  for (const auto* names : {&config.libraries, &config.specs}) {
    for (const std::string& name : *names) add(config.find_library(name));
  }
  std::ranges::for_each(others, add);
  std::ranges::for_each(files_loaded_with_libraries(), add);
  std::ranges::for_each(sample_files(config.recorded, config.regressions), add);
  return digests;
}

std::string engine_digest() { return digest_of_file(this_library()); }

}  // namespace opgate
