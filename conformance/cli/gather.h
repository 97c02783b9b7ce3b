// What the processes of a recorded program have written, made into samples.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace opgate {

/// What is known of an operator after a recording.
struct RecordedOperator {
  size_t samples = 0;  ///< in its file, those of earlier recordings too
  uint64_t calls = 0;  ///< of this recording, those left out too
  std::vector<std::string> dtypes;
  std::map<std::string, uint64_t> left_out;  ///< calls that are no samples, by reason
};

struct Recording {
  std::map<std::string, RecordedOperator> operators;  ///< by name
  std::vector<std::filesystem::path> libraries;       ///< that seem to define them
  std::vector<std::string> modules;                   ///< Python modules that do, or that load such a library
  std::vector<std::filesystem::path> python_path;     ///< where those modules are, besides site-packages
  std::set<std::string> torch;                        ///< versions that the programs used
  std::vector<std::string> unknown;                   ///< operators that neither of the two seems to define
};

/// Reads the logs in `logs` (see record/log.h) and writes a file for each operator into `recorded`, to which
/// samples of earlier recordings belong unless `anew`. Throws SetupError where it cannot write.
Recording gather(const std::filesystem::path& logs, const std::filesystem::path& recorded, bool anew);

}  // namespace opgate
