#include "ptx/source/source_places.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

namespace opgate::simulator {
namespace source_places {

namespace fs = std::filesystem;

// What lies in the folder from which programs include a library, and in no other.
constexpr std::array<const char*, 5> kHeaders{"cuda_runtime.h", "cuda/std/atomic", "cub/cub.cuh",
                                              "thrust/version.h", "torch/extension.h"};

bool is_there(const fs::path& file) {
  std::error_code ignored;  // what cannot be looked at is no library that the compiler has read here
  return fs::exists(file, ignored);
}

bool holds_library(const fs::path& folder) {
  const bool is_language_of_triton = folder.filename() == "language" &&
                                     folder.parent_path().filename() == "triton" &&
                                     is_there(folder / "standard.py");
  return is_language_of_triton ||
         std::ranges::any_of(kHeaders, [&](const char* header) { return is_there(folder / header); });
}

bool is_in_library(const std::string& file) {
  fs::path folder = fs::path(file).lexically_normal().parent_path();
  for (; folder.has_relative_path(); folder = folder.parent_path()) {
    if (holds_library(folder)) return true;
  }
  return false;
}

}  // namespace source_places

bool SourcePlaces::is_of_library(std::uint64_t file) {
  const auto [known, is_new] = are_of_library_.try_emplace(file, false);
  const auto name = files_.find(file);
  if (is_new && name != files_.end()) known->second = source_places::is_in_library(name->second);
  return known->second;
}

SourcePlace SourcePlaces::innermost_of_author(const SourcePlace& place) {
  std::set<SourcePlace> seen;
  SourcePlace at = place;
  while (is_of_library(at.file) && seen.insert(at).second) {
    const auto caller = callers_.find(at);
    if (caller == callers_.end() || !caller->second) return place;
    at = *caller->second;
  }
  return is_of_library(at.file) ? place : at;
}

}  // namespace opgate::simulator
