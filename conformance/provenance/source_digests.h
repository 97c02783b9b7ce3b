// One digest per operator over the sources that it is made from. Where the digest is the same, evidence
// from another machine still holds.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "plan/config.h"
#include "spec/specs.h"

namespace opgate {

class SourceDigests {
 public:
  /// The configuration's `sources`, regressions and environment are part of every operator's digest.
  /// `libraries` are the files that were built from the sources. Throws SetupError if a path in
  /// `sources` does not exist.
  SourceDigests(const Config& config, const std::vector<std::string>& libraries,
                const std::vector<Spec>& subjects);

  /// SHA-1 over the source files in the folder of the operator's spec and below. A model may call any
  /// operator, so its digest covers the folders of all subjects. Empty if the file of the spec is not on
  /// this machine, as with an installed package, and where a source is newer than all libraries, because it
  /// was not built.
  std::string of(const Spec& subject);

 private:
  std::string digest_of(const std::set<std::filesystem::path>& folders);
  const std::string& of_place(const std::filesystem::path& place);

  const Config& config_;
  std::optional<std::filesystem::file_time_type> built_;  // the newest library
  std::string everywhere_;
  std::set<std::filesystem::path> folders_;                // the folders of all subjects
  std::map<std::filesystem::path, std::string> by_place_;  // by file or folder: its files and their digests
  std::set<std::filesystem::path> unbuilt_;                // those with a source that was not built
};

}  // namespace opgate
