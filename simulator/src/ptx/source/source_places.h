// The lines of the source that `.loc` names: for an instruction of a function that is inlined, also those of
// its callers.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace opgate::simulator {

struct SourcePlace {
  std::uint64_t file = 0;  ///< the number that `.file` gives it
  std::uint64_t line = 0;
  std::uint64_t column = 0;

  auto operator<=>(const SourcePlace&) const = default;
};

/// For one function of PTX.
class SourcePlaces {
 public:
  /// `files`: the names of the files, by their numbers.
  explicit SourcePlaces(const std::map<std::uint64_t, std::string>& files) : files_(files) {}

  /// A `.loc`; `caller` where it has `inlined_at`, which names a place that a `.loc` before has named.
  void add(const SourcePlace& place, const std::optional<SourcePlace>& caller) { callers_[place] = caller; }

  /// The place itself or the first one of its callers that is not in a file of a library: a header of CUDA or
  /// torch, or Triton's language. The place itself if all of them are.
  SourcePlace innermost_of_author(const SourcePlace& place);

 private:
  bool is_of_library(std::uint64_t file);

  const std::map<std::uint64_t, std::string>& files_;
  std::map<SourcePlace, std::optional<SourcePlace>> callers_;
  std::map<std::uint64_t, bool> are_of_library_;
};

}  // namespace opgate::simulator
