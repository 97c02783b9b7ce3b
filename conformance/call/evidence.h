// Everything a judge may look at for one case: the call itself, and what it is compared with, each made when
// first asked for.
#pragma once

#include <functional>
#include <map>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "call/observation.h"

namespace opgate {

class PackageFolder;

/// What a worker keeps from one call to the next.
struct Workbench {
  ValueCache values;
  std::string package_folder;               ///< where the AOTInductor packages of this run lie
  std::shared_ptr<PackageFolder> packages;  ///< opened when first asked for
  std::string dense_call;  ///< whose eager observation on contiguous input is kept in `dense`
  std::shared_ptr<const Observation> dense;
  /// Lets go what an interpreter in this process holds in cycles; empty where there is none.
  std::function<void()> collect_garbage;
};

class Evidence {
 public:
  Evidence(CallKey key, Workbench& bench);

  const CallKey& key() const { return key_; }
  /// The operator; not for models.
  const c10::OperatorHandle& op() const { return key_.spec->op.value(); }
  Workbench& bench() { return bench_; }

  /// The call, eager, as the case lays it out.
  const Observation& observed() { return by("eager"); }

  bool was_observed() const { return by_path_.contains("eager"); }

  /// The call by another path of paths/: "meta", "aoti". Throws SetupError for a name that no path has.
  const Observation& by(std::string_view path);

  /// The AOTInductor packages of this run.
  PackageFolder& packages();

  /// The same call in memory that holds kSecondPoison.
  const Observation& repoisoned();

  /// The operator on contiguous copies of the same values.
  const Observation& dense();

  /// The spec's reference on the same values, contiguous and floating ones widened to Double; run once.
  const Outcome& reference();
  /// On values made by `making`: run anew for values that are not the case's own.
  Outcome reference(const Making& making);

  /// The magnitudes that Accuracy::by_inputs measures at: those that the spec gives, otherwise the reference
  /// on the absolute values of its floating arguments.
  Outcome scales(const Making& making) {
    const Reference& given = key_.spec->scale;
    return given ? run_reference(given, making, false) : run_reference(key_.spec->reference, making, true);
  }

 private:
  CallKey key_;
  Workbench& bench_;
  std::map<std::string, std::shared_ptr<const Observation>, std::less<>> by_path_;
  std::shared_ptr<const Observation> dense_;
  Outcome run_reference(const Reference& reference, Making making, bool absolute);

  std::optional<Observation> repoisoned_;
  std::optional<Outcome> reference_;
};

}  // namespace opgate
