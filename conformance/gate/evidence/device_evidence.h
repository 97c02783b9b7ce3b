// Device evidence: what a machine with a GPU saw, for machines without one. It is kept as text, one file
// per operator, and is valid for as long as what was tested is the same.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "gate/state.h"
#include "spec/subject_facts.h"

namespace opgate {

/// What a verdict depends on.
struct Tested {
  std::string torch;    ///< version
  std::string modules;  ///< of the project in Python: RunHeader::sources
  std::string sources;  ///< of the operator and its spec: SubjectFacts::sources
  std::map<std::string, std::string> files_read = {};  ///< SubjectFacts::files_read

  bool operator==(const Tested&) const = default;
};

/// What one machine saw of one operator.
struct DeviceEvidence {
  /// A check of which all cases passed.
  struct Passed {
    size_t cases = 0;
    std::string date;      ///< "2026-11-22"
    std::string revision;  ///< RunHeader::revisions

    bool operator==(const Passed&) const = default;
  };

  std::string device;  ///< "cuda"
  std::string model;   ///< "NVIDIA H200"
  Tested tested;
  std::map<std::string, Passed> checks;
  /// Set only for a new run: checks that ran and had a case that did not pass. Older evidence of these
  /// checks is removed.
  std::set<std::string> failed = {};
  std::vector<std::string> files_not_followed = {};  ///< SubjectFacts::files_not_followed
  std::string signer = {};      ///< whose valid signature the file has; empty if the project names no signers
  std::string not_signed = {};  ///< why the signature does not count; empty if it does, and without signers
  bool is_older = false;        ///< an OpGate wrote it that knew of no files_read, or of no revisions
};

/// By operator id.
using Evidences = std::map<std::string, std::vector<DeviceEvidence>>;

/// "evidence: NVIDIA H200, 2026-11-22, signed by ann@example.org"; without the date if `date` is empty, and
/// without a signer if there is none.
std::string in_words(const DeviceEvidence& evidence, const std::string& date = "");

/// What has changed since the evidence was given: "ops/common/reduce.cuh has changed, torch was 2.11.0 and is
/// 2.15.0 here"; empty if nothing has. `now` has the digests of those files that the evidence lists; they
/// are empty for files that are missing.
std::string difference(const DeviceEvidence& then, const Tested& now);

/// Reads all files of a folder; returns nothing if there is no folder. If `signers` is not empty, it is the
/// list of those whose signatures count, and each file's signature is verified. Throws SetupError, with file
/// and line, for a file that is not evidence or lacks a key.
Evidences read_evidence(const std::filesystem::path& folder, const std::filesystem::path& signers = {});

/// The evidence that a run gives on the devices of this machine other than the CPU. There is none of an
/// operator whose sources are unknown, or were not compiled as they are: see uncompiled_of(). Throws
/// SetupError for a run with --case, which has only some cases of its checks.
Evidences evidence_of(const RunState& run);

/// The files that the compiler read for the operator and that are no longer as they were.
std::vector<std::string> uncompiled_of(const SubjectFacts& facts);

/// The operators whose file would keep, after add_evidence(), what `evidence` does not say: that of other
/// machines, and of checks that were not run. Throws SetupError.
std::vector<std::string> with_older_evidence(const std::filesystem::path& folder, const Evidences& evidence);

/// Adds `evidence` to the files of the folder. For the same machine, torch, modules and sources, it adds the
/// checks that passed and removes those that failed; evidence for other modules or sources is replaced.
/// Returns the operators whose file changed. Throws SetupError; then no file has changed.
std::vector<std::string> add_evidence(const std::filesystem::path& folder, const Evidences& evidence);

}  // namespace opgate
