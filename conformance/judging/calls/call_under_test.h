// Everything that a check may look at for one case: the call itself, and the calls that it is compared
// with. Each of them is made when it is first needed, and once.
#pragma once

#include <opgate/promises.h>
#include <opgate/reference.h>

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "call/observation.h"

namespace opgate {

class PackageFolder;

/// What a worker keeps from one call to the next.
struct WorkerCache {
  ValueCache values;
  std::string package_folder;               ///< where the AOTInductor packages of this run lie
  std::string outputs_folder;               ///< where results are kept; empty to keep none
  std::shared_ptr<PackageFolder> packages;  ///< opened on first use
  std::string dense_call;                   ///< id of the call whose observation is kept in `dense`
  std::shared_ptr<const Observation> dense;
  /// Makes the Python interpreter of this process free the reference cycles that it holds; empty if this
  /// process has no interpreter. With `keep_the_rest`, later collections do not look at what is left.
  std::function<void(bool keep_the_rest)> collect_garbage;

  /// The same for samples that live shorter than this cache, whose values know samples by their addresses.
  WorkerCache with_values_of_its_own() const {
    WorkerCache other = *this;
    other.values = ValueCache();
    return other;
  }
};

class CallUnderTest {
 public:
  CallUnderTest(CallKey key, WorkerCache& cache);

  const CallKey& key() const { return key_; }
  /// The operator; not for models.
  const c10::OperatorHandle& op() const;
  /// Whether its spec makes this promise.
  bool promised(Promise promise) const;
  WorkerCache& cache() { return cache_; }

  /// The eager call on the case's device, with arguments laid out as the case says.
  const Observation& observed();

  /// The same call where the inputs require gradients; null if the operator does not promise derivatives, and
  /// where the call raises.
  const Observation* observed_with_gradients();

  bool was_observed() const { return observed_ != nullptr; }

  /// The call on meta tensors, which runs the fake kernel.
  const Outcome& fake();

  /// The call as the AOTInductor package of this run makes it.
  const Outcome& packaged();

  /// The AOTInductor packages of this run.
  PackageFolder& packages();

  /// The same call in memory that holds another poison than kFirstPoison.
  const Observation& repoisoned(const Poison& poison = kSecondPoison);

  /// The operator on contiguous copies of the same values.
  const Observation& dense();

  /// The spec's reference on the same values, on the CPU. Its tensors are contiguous; floating
  /// ones are widened to Double and complex ones to ComplexDouble, and others keep their dtype. Throws
  /// SpecError where the spec has no reference.
  const Outcome& reference();
  /// The same where it was made before; null otherwise.
  const Outcome* known_reference() const { return reference_ ? &*reference_ : nullptr; }
  /// The same on values made with `options`; runs the reference again for values that are not the case's
  /// own.
  Outcome reference(const MaterializeOptions& options);

  /// The magnitudes that Accuracy::by_inputs measures at: those of the spec's scale function where there is
  /// one, otherwise the results of the reference for the absolute values of its floating and complex
  /// tensors. Devices and dtypes are those of reference().
  Outcome scales(const MaterializeOptions& options = {});

  /// The reference on arguments that `change` makes of the ones that reference() gets.
  Outcome changed_reference(const MaterializeOptions& options,
                            const std::function<void(torch::jit::Stack&)>& change);

 private:
  Outcome run_reference(const Reference& reference, MaterializeOptions options,
                        const std::function<void(torch::jit::Stack&)>& change = {});

  CallKey key_;
  WorkerCache& cache_;
  std::shared_ptr<const Observation> observed_;
  std::shared_ptr<const Observation> dense_;
  std::optional<Observation> with_gradients_;
  std::optional<Outcome> fake_;
  std::optional<Outcome> packaged_;
  std::deque<std::pair<Poison, Observation>>
      repoisoned_;  // a deque, because callers keep references to elements
  std::optional<Outcome> reference_;
  std::optional<Outcome> scales_;  ///< for the case's own values
};

}  // namespace opgate
