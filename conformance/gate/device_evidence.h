// What machines with another device saw, for those that lack it: kept as text, an operator a file, and good
// for as long as what was tested is the same.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gate/state.h"

namespace opgate {

/// What a verdict depends on.
struct Tested {
  std::string torch;    ///< version
  std::string engine;   ///< engine_sources()
  std::string sources;  ///< of the operator and its spec: SubjectFacts::sources

  bool operator==(const Tested&) const = default;
};

/// One operator on one machine, all of whose cases of these checks passed.
struct DeviceEvidence {
  std::string device;  ///< "cuda"
  std::string model;   ///< "NVIDIA H200"
  std::string date;    ///< "2026-11-22"
  Tested tested;
  std::map<std::string, size_t> checks;  ///< with their cases
};

/// By operator.
using Evidences = std::map<std::string, std::vector<DeviceEvidence>>;

/// "evidence: NVIDIA H200, 2026-11-22"
std::string in_words(const DeviceEvidence& evidence);

/// What is not as it was when the evidence was given: "the sources of the operator, torch (2.11.0, here
/// 2.15.0)"; empty where all is.
std::string difference(const Tested& then, const Tested& now);

/// All of a folder; nothing where there is none. Throws SetupError, with file and line.
Evidences read_evidence(const std::filesystem::path& folder);

/// What a run shows of the devices that are here, besides the CPU: checks all of whose cases passed.
Evidences evidence_of(const RunState& run);

/// Adds to what the folder has: of the same machine, torch and sources, checks are added; what is of other
/// sources is replaced. The operators whose file changed. Throws SetupError; then no file has changed.
std::vector<std::string> add_evidence(const std::filesystem::path& folder, const Evidences& evidence);

}  // namespace opgate
