// One run of `opgate gate`: what the base has, what the head's run shows, and what becomes of the change.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/project/complete_run.h"
#include "gate/base/gate_base.h"
#include "gate/base/mutated_lines.h"
#include "gate/base/speed_pairs.h"
#include "gate/rule.h"
#include "gate/waivers.h"

namespace opgate::gate {

/// What the command line says.
struct GateOptions {
  RunOptions run;
  std::filesystem::path results;
  std::string base;
  std::string ledger_of;
  std::filesystem::path bench;
  double accuracy_factor = 1.5;
  bool strict_gpu = false;
  bool no_speed = false;
  bool no_mutants = false;
};

/// Compares the head with a base, and prints what it finds.
class GateRun {
 public:
  /// Reads the base and the waivers, so that mistakes in them are reported before the long run. Throws
  /// SetupError for them, and for a project that cannot be read.
  explicit GateRun(const GateOptions& options);

  /// Returns the exit status. Throws SetupError if the two cannot be compared.
  int finish();

 private:
  void time_both();
  bool run_head();
  bool scores_mutants() const;
  double least_score() const;
  Change change_to(RunState& head);
  int report(const Change& change);

  const GateOptions& options_;
  const Config config_;
  GateBase base_;
  const WaiverFile own_waivers_;
  std::filesystem::path results_;  // of the head
  SpeedPairs speeds_;
  std::optional<std::vector<MutantResult>> mutants_;
  std::optional<RunState> on_base_samples_;
};

}  // namespace opgate::gate
