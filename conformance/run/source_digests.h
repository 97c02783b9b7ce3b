// What operators are made from, as one digest each: where it is the same, what another machine saw still
// holds.
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
  /// `sources`, the regressions and the environment of the configuration count for every operator.
  /// `libraries` are what was made from them.
  SourceDigests(const Config& config, const std::vector<std::string>& libraries,
                const std::vector<Spec>& subjects);

  /// SHA-1 over the source files in the folder of the operator's spec and below; of a model, which may call
  /// any of them, over those of all subjects. Empty where the spec's own file is not here, as in a package
  /// that was installed, and where a source is newer than all libraries: it was not built.
  std::string of(const Spec& subject);

 private:
  std::string digest_of(const std::set<std::filesystem::path>& folders);
  const std::string& of_place(const std::filesystem::path& place);

  const Config& config_;
  std::optional<std::filesystem::file_time_type> built_;  // the newest library
  std::string everywhere_;
  std::set<std::filesystem::path> folders_;                // of all subjects
  std::map<std::filesystem::path, std::string> by_place_;  // files and folders
  std::set<std::filesystem::path> unbuilt_;                // places with a source that was not built
};

}  // namespace opgate
