// Makes samples from what the processes of a recorded program have written.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace opgate {

/// What is known of an operator after a recording.
struct RecordedOperator {
  size_t samples = 0;  ///< in its file, including those of earlier recordings
  uint64_t calls = 0;  ///< in this recording, including those that were left out
  std::vector<std::string> dtypes;
  std::map<std::string, uint64_t> left_out;  ///< calls of which no sample was kept, by reason
};

struct Recording {
  std::map<std::string, RecordedOperator> operators;  ///< by name
  std::vector<std::filesystem::path> libraries;       ///< that seem to define the operators
  std::vector<std::string> modules;                   ///< that define them, or load such a library
  std::vector<std::filesystem::path> python_path;     ///< folders of modules outside site-packages
  std::set<std::string> torch;                        ///< torch versions of the recorded processes
  std::vector<std::string> unknown;                   ///< operators whose library or module was not found
};

/// Reads the logs in the folder `logs` (see record/log.h) and writes one file for each operator into the
/// folder `recorded`. Samples of earlier recordings are kept unless `anew`. Throws SetupError if a file
/// cannot be written.
Recording collect_recordings(const std::filesystem::path& logs, const std::filesystem::path& recorded,
                             bool anew);

}  // namespace opgate
