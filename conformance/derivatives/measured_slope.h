// The slope of an operator along a direction of one input, by differences of its results, with what such a
// difference cannot tell.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "derivatives/derivative.h"

namespace opgate {

struct MeasuredSlope {
  double slope = 0;
  /// How far the slope may be off: by rounding, by the operator's curvature, and by corners and jumps near
  /// the values, which show where two steps, or the two sides, give other slopes.
  double uncertainty = 0;
  bool constant = false;  ///< no result has changed by a bit
};

/// The results of one call that a derivative was computed of, weighted by its cotangents (incoming
/// gradients).
class SlopeMeter {
 public:
  /// For the call that `mine` is the derivative of, with the inputs moved as `request` says. `mine` must
  /// outlive this.
  SlopeMeter(const CallKey& key, ValueCache& values, const DerivativeRequest& request,
             const Derivative& mine);

  /// Whether the operator returns the same bits on the same arguments.
  bool repeats() const { return repeats_; }

  /// The values of the input, in Double or ComplexDouble.
  at::Tensor values_of(const std::string& input) const;

  /// The slope where `input` moves along `direction`, which is in Double or ComplexDouble. None if the
  /// operator raises, or returns numbers that are not finite, on moved values.
  std::optional<MeasuredSlope> along(const std::string& input, const at::Tensor& direction);

 private:
  std::optional<std::vector<at::Tensor>> results_at(const std::string& input, const at::Tensor& values);

  const CallKey& key_;
  ValueCache& values_;
  const DerivativeRequest request_;
  const Derivative& mine_;
  std::vector<at::Tensor> unmoved_;
  bool repeats_ = false;
};

}  // namespace opgate
