// The files that a run leaves in its output folder.
#pragma once

#include <filesystem>

namespace opgate {

/// The journal of the run.
inline std::filesystem::path results_file(const std::filesystem::path& output) {
  return output / "results.jsonl";
}

/// The samples of the run.
inline std::filesystem::path samples_file(const std::filesystem::path& output) {
  return output / "samples.json";
}

/// The folder with what contiguous calls returned.
inline std::filesystem::path outputs_folder(const std::filesystem::path& output) {
  return output / "outputs";
}

}  // namespace opgate
