// The accuracy that an operator promises: how near its results stay to its reference.
#pragma once

#include <c10/core/ScalarType.h>

#include <optional>

namespace opgate {

/// The reference runs in double precision (see SpecWriter::reference). An error is measured in units in the
/// last place (ulps) of the dtype of the operator's result, at the reference's value. Integer and bool
/// results are always compared exactly.
struct Accuracy {
  bool exact = false;  ///< the same bits, the sign of zero included; any NaN for a NaN
  double ulps = 0;     ///< without `exact`: the largest error, in ulps
  /// The ulps are those at the magnitude of the terms that the result is a sum of, as the reference shows it
  /// (judging/comparison/scale_of_terms.h), where that is larger than the result. A sum whose terms cancel
  /// cannot be more accurate (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., 4.2).
  bool by_inputs = false;
  /// The ulps are those of this dtype in results whose dtype is more precise; see of().
  std::optional<c10::ScalarType> dtype = std::nullopt;
  bool input_dtype = false;  ///< the same for the dtype of the inputs; see of_input_dtype()

  /// The same accuracy with `by_inputs`: ulps(4).scaled_by_inputs(). exact() cannot be scaled.
  constexpr Accuracy scaled_by_inputs() const {
    Accuracy scaled = *this;
    scaled.by_inputs = true;
    return scaled;
  }

  /// The same number of ulps, but of `computed`, a floating dtype: ulps(2).of(at::kFloat) is for results that
  /// are computed in float and returned in double. Results of a dtype that is no more precise than `computed`
  /// are measured in ulps of their own dtype. exact() has no ulps.
  constexpr Accuracy of(c10::ScalarType computed) const {
    Accuracy other = *this;
    other.dtype = computed;
    other.input_dtype = false;
    return other;
  }

  /// The same number of ulps, but of the dtype that the spec tries on the sample: for operators that return,
  /// say, statistics in double of data in float, half or double. Results of a dtype that is no more precise,
  /// and those of integers, are measured in ulps of their own dtype. exact() has no ulps.
  constexpr Accuracy of_input_dtype() const {
    Accuracy other = *this;
    other.dtype = std::nullopt;
    other.input_dtype = true;
    return other;
  }
};

/// The same bits as the reference, after its result is rounded to the dtype of the operator's: for
/// operators that move or select data.
constexpr Accuracy exact() { return {.exact = true}; }

/// Within `bound` ulps of the reference's result in double, unrounded (Goldberg 1991): 0.5 demands the
/// correctly rounded result. `bound` is 0 or more.
constexpr Accuracy ulps(double bound) { return {.ulps = bound}; }

}  // namespace opgate
