// What is known of a run besides each verdict, by operator and device: small enough to be kept as text and
// compared with another run's.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "run/journal.h"

namespace opgate {

/// The reason of a verdict that another machine gave begins so: "evidence: NVIDIA H200, 2026-11-22".
inline constexpr std::string_view kByEvidence = "evidence: ";

/// By dtype.
template <class Value>
using ByDtype = std::map<std::string, Value>;

/// Over all dtypes.
size_t total(const ByDtype<size_t>& counts);

/// One operator (model, class) on one device.
struct DeviceState {
  std::map<std::string, ByDtype<size_t>> cases;      ///< planned, by check
  std::map<std::string, ByDtype<size_t>> owed;       ///< of those, the ones that no machine has checked
  std::map<std::string, ByDtype<size_t>> elsewhere;  ///< of those, the ones that passed on another machine
  std::map<std::string, ByDtype<double>> worst;      ///< error in ulps, by check; of cases that pass here

  /// What calls return, by sample and then by variant: "[4, 8] strides (8, 1)", the dtype before it where it
  /// is not the call's. Variants that return what the contiguous call does are left out; where dtypes differ,
  /// each has its own, as "x=stepped, float64".
  std::map<std::string, std::map<std::string, std::string>> outputs;
  /// The beginning of a digest of the results of contiguous calls, by sample; of deterministic operators.
  std::map<std::string, ByDtype<std::string>> bits;

  /// Speeds beside a baseline, by case of `opgate bench`: "ratio", and "low" and "high" of its interval.
  std::map<std::string, std::map<std::string, double>> speed;

  bool operator==(const DeviceState&) const = default;
};

/// One operator, model or class.
struct SubjectState {
  SubjectFacts facts;
  std::map<std::string, DeviceState> devices;  ///< by name: "cpu", "cuda"
  std::string measured;                        ///< where bits and errors come from: "torch 2.15.0, AVX512"

  bool operator==(const SubjectState&) const = default;
};

/// By id.
using State = std::map<std::string, SubjectState>;

/// Cases of one operator, device and check that broke their promise, or could not be judged for a fault of
/// their spec: the first, and how many others.
struct Broken {
  std::string case_id;
  Judgement judgement;
  size_t others = 0;
  /// All of them, each a hash of its id and verdict: a million ids would fill the memory.
  std::set<size_t> cases = {};
};

/// A run as the gate sees it.
struct RunState {
  std::filesystem::path file;
  RunHeader header;
  State state;
  std::vector<Broken> broken;
  std::map<std::string, size_t> owed;        ///< by reason
  std::map<std::string, size_t> elsewhere;   ///< passed on another machine: by reason
  std::map<std::string, std::string> worst;  ///< where the worst error is: OP/DEVICE/CHECK/DTYPE, the case
  size_t entries = 0;                        ///< verdicts
  size_t passed = 0;                         ///< elsewhere, too
};

/// The parts of a case id: OP/DTYPE/SAMPLE/VARIANT/DEVICE/CHECK. Views of the text.
struct CaseParts {
  std::string_view op, dtype, sample, variant, device, check;
};

/// Of a case, or of a call, which has no check. Throws SetupError for another text.
CaseParts parts_of_case(std::string_view id);
CaseParts parts_of_call(std::string_view id);

/// Reads a whole run. Throws SetupError for a file that is no results file, unfinished, or one shard of
/// several.
RunState state_of_run(const std::filesystem::path& results);

}  // namespace opgate
