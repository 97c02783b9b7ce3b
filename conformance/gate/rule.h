// The rules that a change must satisfy. Each rule is a file in rules/ that registers itself, with a Markdown
// file that explains it.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/explanation.h"
#include "base/registry.h"
#include "gate/ledger/coverage_file.h"
#include "gate/old_package.h"
#include "gate/partial.h"
#include "gate/speed_pair.h"
#include "gate/state.h"
#include "gate/value_differences.h"
#include "mutation/mutant_results.h"

namespace opgate {

/// One remark of a rule about a change.
struct Remark {
  enum class Kind { refused, better, note };

  Kind kind = Kind::refused;
  std::string rule;   ///< the name of the rule, or of the check that fails: a waiver names it as `check`
  std::string op;     ///< id; empty if the remark is about all operators, for which a waiver says "*"
  std::string what;   ///< "accuracy, float16: worst error 1.1 -> 3.6 ulps"
  std::string shown;  ///< the case or line that shows it; may be empty
  std::string device = {};            ///< the device that it is about; empty if it is about all
  std::set<std::string> dtypes = {};  ///< the dtypes that it is about; empty if it is about all
  bool ended = false;                 ///< a crash or a timeout, which a waiver must name
  std::string defect = {};  ///< the id of the defect that a failing check shows; empty for other remarks
  bool shows_best = false;  ///< the check is that of the defect's example, which stands for the others
};

/// The change that the rules judge.
struct Change {
  const State& base;
  const RunState& head;
  const RunState* base_run = nullptr;     ///< null if the base is the ledger
  double accuracy_factor = 1.5;           ///< errors above this many times the accepted error are refused
  bool partial = false;                   ///< only some operators were run
  std::vector<std::string> checks = {};   ///< patterns of the only checks that were run; empty for all
  bool strict_gpu = false;                ///< owed cases are refused on every device
  std::vector<OldPackage> packages = {};  ///< packages of other builds, run with the head's libraries
  SpeedPairs speeds = {};                 ///< speeds of base and head, where both are builds
  bool waivers_known = false;             ///< of the base
  /// Lines of the files that `signers` of opgate.toml names; none if the base is not a commit.
  std::optional<std::set<std::string>> base_signers = {};
  std::set<std::string> head_signers = {};
  const OperatorNames* base_not_covered = nullptr;  ///< null if the base does not say it
  KeptKernels kernels_kept = {};                    ///< of devices that the head's build lacks
  /// The head's operators called with those samples of the base that the head's specs lack or give other
  /// arguments; null if there are none, or where the base's samples are not known.
  const RunState* on_base_samples = nullptr;
  ValueDifferences differences = {};  ///< where both are runs that kept their results
  /// Mutants of the lines that the change has touched; none if no score is asked for.
  std::optional<std::vector<MutantResult>> mutants = {};
  double least_score = 0;  ///< of those, in percent
};

using Remarks = std::vector<Remark>;

/// Where a rule puts its remarks. `op`, `shown`, `device` and `dtypes` are as in a Remark.
class RuleReport {
 public:
  RuleReport(std::string_view rule, Remarks& remarks) : rule_(rule), remarks_(remarks) {}

  void add(Remark remark) { remarks_.push_back(std::move(remark)); }
  void add(Remark::Kind kind, std::string op, std::string what, std::string shown = "",
           std::string device = "", std::set<std::string> dtypes = {});
  /// Add a refusal or a note: `about` are the arguments of add() after the kind.
  template <class... About>
  void refuse(About&&... about) {
    add(Remark::Kind::refused, std::forward<About>(about)...);
  }
  template <class... About>
  void note(About&&... about) {
    add(Remark::Kind::note, std::forward<About>(about)...);
  }

 private:
  std::string_view rule_;
  Remarks& remarks_;
};

struct Rule {
  std::string_view name;
  Explanation explanation = {};  ///< from the Markdown file beside the code: a rule does not give it
  void (*judge)(const Change&, RuleReport&);
};

/// The remarks of all rules: refusals first, then improvements, then notes, each in the order of the rules'
/// names.
Remarks judge_change(const Change& change);

using OnSubject =
    std::function<void(const std::string& id, const SubjectState& base, const SubjectState& head)>;
/// Calls `on_subject` for each operator that both base and head have.
void for_each_subject(const Change& change, const OnSubject& on_subject);

using OnDevice = std::function<void(const std::string& id, const std::string& device, const DeviceState& base,
                                    const DeviceState& head)>;
/// Calls `on_device` for each operator and device that both base and head have.
void for_each_device(const Change& change, const OnDevice& on_device);

/// The base's results of the machine on which the head was run; null if there are none. Bits and errors
/// can only be compared then.
const MachineResults* results_here(const Change& change, const DeviceState& base);

/// Whether both specs give the sample the same arguments. Results of other arguments are not compared.
bool same_arguments(const SubjectFacts& base, const SubjectFacts& head, const std::string& sample);

/// The run in which the head was called with the arguments that the sample has in the base: its own, or
/// Change::on_base_samples; null if there is neither.
const RunState* run_on_base_sample(const Change& change, const std::string& id, const std::string& sample);

/// The names that samples have in the head, by their names in the base, where a sample with the same
/// arguments has another name now.
std::map<std::string, std::string> renamed_samples(const SubjectFacts& base, const SubjectFacts& head);

}  // namespace opgate

#define OPGATE_REGISTER_RULE(identifier, ...)                  \
  [[maybe_unused]] static const bool identifier##_registered = \
      ::opgate::Registry<::opgate::Rule>::instance().add(::opgate::explained(::opgate::Rule __VA_ARGS__))
