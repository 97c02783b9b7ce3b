// Makes samples from what the processes of a recorded program have written.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "plan/kernel_folder.h"

namespace opgate {

/// What is known of an operator after a recording.
struct RecordedOperator {
  size_t samples = 0;     ///< in its file, including those of earlier recordings
  size_t rejections = 0;  ///< calls that always raised, in its file
  uint64_t calls = 0;     ///< in this recording, including those that were left out
  std::vector<std::string> dtypes;
  std::vector<std::string> written;          ///< the arguments of a function that its calls have written
  std::map<std::string, uint64_t> left_out;  ///< calls of which no sample was kept, by reason
};

/// A module of Python that the recorded program had imported.
struct RecordedModule {
  std::string name;
  std::filesystem::path root;  ///< the folder in which Python finds it

  friend bool operator==(const RecordedModule&, const RecordedModule&) = default;
};

struct Recording {
  std::map<std::string, RecordedOperator> operators;  ///< by name
  std::vector<std::filesystem::path> libraries;       ///< that seem to define the operators
  std::vector<std::filesystem::path> loaded;  ///< all of the program but those of torch and the system
  std::vector<RecordedModule>
      modules;  ///< that define them, register their fake kernels, or load such a library
  std::vector<KernelFolder> kernels;    ///< that kernel-builder has built, and that define the others
  std::vector<RecordedModule> program;  ///< of the program itself, in the order in which it imported them
  std::map<std::string, std::string> environment;  ///< variables that the program set
  std::set<std::string> torch;                     ///< torch versions of the recorded processes
  std::vector<std::string> unknown;                ///< operators whose library or module was not found
};

/// The dispatch key at which a project replaces kernels of torch's operators, and the type of the device
/// whose tensors reach it: "CUDA", "cuda".
struct ReplacedAt {
  std::string key;
  std::string device;
};

/// Reads the logs in the folder `logs` (see record/log.h) and writes one file for each operator into the
/// folder `recorded`. Samples of earlier recordings are kept unless `anew`. With `replaced`, the recorded
/// calls are samples for the kernels at that key, on its device. Throws SetupError if a file cannot be
/// written.
Recording collect_recordings(const std::filesystem::path& logs, const std::filesystem::path& recorded,
                             bool anew, const std::optional<ReplacedAt>& replaced = {});

}  // namespace opgate
