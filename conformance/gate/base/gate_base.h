// What `opgate gate` compares the head with: the ledger, that of a commit, another run, or a build that is
// run first.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gate/base/base_build.h"
#include "gate/broken.h"
#include "gate/ledger/coverage_file.h"
#include "gate/state.h"
#include "gate/waivers.h"

namespace opgate {

struct GateBase {
  std::string name;                               ///< for the user: "ledger fixtures/ledger"
  State state;                                    ///< with its waivers, where they are known
  bool waivers_known = false;                     ///< of a mere run they are not
  std::optional<RunState> run = {};               ///< none if the state is a ledger's
  std::filesystem::path output = {};              ///< folder of the run and its packages; empty for a ledger
  std::optional<BaseBuild> build = {};            ///< set if the base is a build that can be run and timed
  std::optional<OperatorNames> not_covered = {};  ///< none if the ledger does not say it
  std::optional<std::set<std::string>> signers = {};  ///< of the evidence; none if the base is not a commit
  std::optional<WaiverFile> waivers = {};             ///< by which the head is judged instead of by its own
  std::string commit = {};                            ///< hash; empty if the base is not a commit
  double least_score = 0;  ///< mutation.least of its opgate.toml, if it is a commit
};

/// The ledger of the configuration. Throws SetupError if it names none, or one that cannot be read.
GateBase base_of_ledger(const Config& config);

/// The ledger and the waivers of a commit, which is checked out and not built. Throws SetupError and
/// Interrupted.
GateBase base_of_commit_ledger(const std::string& commit, const Config& config);

/// `base` is results.jsonl or the folder with it, or what find_base() takes, which is then run with these
/// options of `opgate run`. Throws SetupError and Interrupted.
GateBase base_of_run_or_build(const std::string& base, const Config& config,
                              const std::vector<std::string>& options, const Announce& announce);

}  // namespace opgate
