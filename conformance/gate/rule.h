// What the gate asks of a change: each rule is a file in rules/ that registers itself.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/explanation.h"
#include "base/registry.h"
#include "gate/old_package.h"
#include "gate/speed_pair.h"
#include "gate/state.h"

namespace opgate {

/// What a rule says of a change.
struct Remark {
  enum class Kind { refused, better, note };

  Kind kind = Kind::refused;
  std::string rule;   ///< or the check that is broken: what a waiver names
  std::string op;     ///< its id; empty where it is about all of them, which a waiver calls "*"
  std::string what;   ///< "accuracy, float16: worst error 1.1 -> 3.6 ulps"
  std::string shown;  ///< the case or line that shows it; may be empty
};

/// What is compared.
struct Change {
  const State& base;
  const RunState& head;
  const RunState* base_run = nullptr;     ///< where the base is a run and not the ledger
  double accuracy_factor = 1.5;           ///< so many times the accepted error is worse
  bool some = false;                      ///< only some operators were run
  bool strict_gpu = false;                ///< owed cases are refused
  std::vector<OldPackage> packages = {};  ///< made with other builds, asked what they do with the head
  SpeedPairs speeds = {};                 ///< of base and head, where both are builds
};

using Remarks = std::vector<Remark>;

struct Rule {
  std::string_view name;
  Explanation explanation;
  void (*judge)(const Change&, Remarks&);
};

/// What all rules say, in the order of their names; refusals first.
Remarks judge_change(const Change& change);

using OnSubject =
    std::function<void(const std::string& id, const SubjectState& base, const SubjectState& head)>;
/// The operators that both have.
void for_each_subject(const Change& change, const OnSubject& on_subject);

using OnDevice = std::function<void(const std::string& id, const std::string& device, const DeviceState& base,
                                    const DeviceState& head)>;
/// Those that both have, on each device that both have.
void for_each_device(const Change& change, const OnDevice& on_device);

/// True where both were measured by the same torch and vector instructions: only then can digests and errors
/// be compared.
bool measured_alike(const SubjectState& base, const SubjectState& head);

}  // namespace opgate

#define OPGATE_REGISTER_RULE(identifier, ...)                  \
  [[maybe_unused]] static const bool identifier##_registered = \
      ::opgate::Registry<::opgate::Rule>::instance().add(__VA_ARGS__)
