// The state of each operator and device after a run, without the verdict of each case: small enough to be
// kept as text and compared with the state of another run.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "gate/planned_cases.h"
#include "run/run_header.h"
#include "spec/subject_facts.h"

namespace opgate {

struct Broken;  // gate/broken.h: whoever owns a RunState includes it

/// What depends on the machine and on torch, by the name of the machine: see machine_of().
struct MachineResults {
  std::map<std::string, ByDtype<double>> worst;  ///< worst error in ulps of passing cases, by check
  /// The first digits of a digest of what contiguous calls return, by sample; only for deterministic
  /// operators.
  std::map<std::string, ByDtype<std::string>> bits;
  /// Speeds relative to a baseline, by case of `opgate bench`: "ratio", and "low" and "high" of its
  /// interval.
  std::map<std::string, std::map<std::string, double>> speed;

  bool operator==(const MachineResults&) const = default;
};

/// One operator (model, class) on one device.
struct DeviceState {
  PlannedCases planned;
  CaseCounts owed;         ///< how many planned cases no machine has checked
  CaseCounts by_evidence;  ///< how many of them passed on another machine

  /// What calls return, by sample and then by variant: "[4, 8] strides (8, 1)", preceded by the dtype where
  /// it is not the call's. Variants that return the same as the contiguous call are left out. Where dtypes
  /// return different metadata, each has an entry of its own, as "x=stepped, float64".
  std::map<std::string, std::map<std::string, std::string>> outputs;
  /// The texts of a ValueSummary for each result of the contiguous call, joined by "; ", by sample. The
  /// values of the reference are kept in the same form.
  std::map<std::string, ByDtype<std::string>> values;
  std::map<std::string, ByDtype<std::string>> reference;

  std::map<std::string, MachineResults> machines;  ///< a run has one, the accepted state may have several

  /// The results of that machine; null if there are none.
  const MachineResults* on(const std::string& machine) const;
  bool operator==(const DeviceState&) const = default;
};

/// One operator, model or class.
struct SubjectState {
  SubjectFacts facts;
  std::map<std::string, DeviceState> devices;  ///< by name: "cpu", "cuda"
  /// Waivers that are about it: what they are for, and until when, why and where. Not known of a mere run.
  std::map<std::string, std::string> waivers = {};

  bool operator==(const SubjectState&) const = default;
};

/// By id of the operator, model or class.
using State = std::map<std::string, SubjectState>;

/// What bits and errors depend on: "torch 2.15.0, AVX512".
std::string machine_of(const RunHeader& header);

/// A run as the gate sees it.
struct RunState {
  std::filesystem::path file;
  RunHeader header;
  State state;
  std::vector<Broken> broken;
  std::map<std::string, std::string> defects;  ///< their causes, by id
  std::map<std::string, size_t> owed;          ///< number of owed cases, by reason
  std::map<std::string, size_t> by_evidence;   ///< number of cases that passed on another machine, by reason
  std::map<std::string, std::string> worst;    ///< the case with the worst error, by OP/DEVICE/CHECK/DTYPE
  size_t entries = 0;                          ///< number of verdicts
  size_t passed = 0;                           ///< number of passes, with those on another machine
  size_t simulated = 0;  ///< number of passes on the simulated device, which `passed` leaves out
};

/// Reads a whole run. Throws SetupError for a file that is not a results file, is unfinished, or is one
/// shard of several.
RunState state_of_run(const std::filesystem::path& results);

}  // namespace opgate
