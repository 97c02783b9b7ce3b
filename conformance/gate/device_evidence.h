// What machines with another device saw, for those that lack it: kept as text, an operator a file, and good
// for as long as what was tested is the same.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gate/state.h"

namespace opgate {

/// What a verdict depends on.
struct Tested {
  std::string torch;    ///< version
  std::string engine;   ///< RunHeader::sources
  std::string sources;  ///< of the operator and its spec: SubjectFacts::sources

  bool operator==(const Tested&) const = default;
};

/// One operator on one machine.
struct DeviceEvidence {
  /// Of a check all of whose cases passed.
  struct Passed {
    size_t cases = 0;
    std::string date;  ///< "2026-11-22"

    bool operator==(const Passed&) const = default;
  };

  std::string device;  ///< "cuda"
  std::string model;   ///< "NVIDIA H200"
  Tested tested;
  std::map<std::string, Passed> checks;
  /// Of a run: checks that were made there, and some case did not pass. They end what was known of them.
  std::set<std::string> failed = {};
};

/// By operator.
using Evidences = std::map<std::string, std::vector<DeviceEvidence>>;

/// "evidence: NVIDIA H200, 2026-11-22"; without a date where there is none.
std::string in_words(const DeviceEvidence& evidence, const std::string& date = "");

/// What is not as it was when the evidence was given: "the sources of the operator, torch (2.11.0, here
/// 2.15.0)"; empty where all is.
std::string difference(const Tested& then, const Tested& now);

/// All of a folder; nothing where there is none. Throws SetupError, with file and line, for what is none, or
/// lacks a word.
Evidences read_evidence(const std::filesystem::path& folder);

/// What a run shows of the devices that are here, besides the CPU. Throws SetupError for a run of some cases
/// of its checks only.
Evidences evidence_of(const RunState& run);

/// Adds to what the folder has: of the same machine, torch and sources, checks are added, and those that
/// failed are taken out; what is of other sources is replaced. The operators whose file changed. Throws
/// SetupError; then no file has changed.
std::vector<std::string> add_evidence(const std::filesystem::path& folder, const Evidences& evidence);

}  // namespace opgate
