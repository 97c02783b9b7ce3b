// Mutants that somebody has examined: nothing can notice them.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "mutation/mutant.h"

namespace opgate {

class EquivalentMutants {
 public:
  /// Reads tables [[equivalent]] with file, function, original, mutated and because; an empty path has none.
  /// Throws SetupError with file and line where it is not valid.
  explicit EquivalentMutants(const std::filesystem::path& file);

  /// Why the mutant cannot be noticed, if the file has it.
  std::optional<std::string> why(const Mutant& mutant) const;

 private:
  using Key = std::tuple<std::string, std::string, std::string, std::string>;
  std::map<Key, std::string> reasons_;
};

}  // namespace opgate
