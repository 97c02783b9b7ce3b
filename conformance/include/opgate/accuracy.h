// The accuracy that an operator promises: how near its results stay to its reference.
#pragma once

namespace opgate {

/// The reference runs in double precision (see SpecWriter::reference). An error is measured in units in the
/// last place (ulps) of the dtype of the operator's result, at the reference's value. Integer and bool
/// results are always compared exactly.
struct Accuracy {
  bool exact = false;  ///< the same bits, NaN payloads and the sign of zero included
  double ulps = 0;     ///< without `exact`: the largest error, in ulps
  /// The ulps are those at the reference's result for the absolute values of the inputs, where that is
  /// larger than the result itself. A sum whose terms cancel cannot be more accurate (Higham, Accuracy and
  /// Stability of Numerical Algorithms, 2nd ed., 4.2).
  bool by_inputs = false;

  /// The same accuracy with `by_inputs`: ulps(4).scaled_by_inputs(). exact() cannot be scaled.
  constexpr Accuracy scaled_by_inputs() const { return {exact, ulps, true}; }
};

/// The same bits as the reference, after its result is rounded to the dtype of the operator's: for
/// operators that move or select data.
constexpr Accuracy exact() { return {true, 0, false}; }

/// Within `bound` ulps of the reference's result in double, unrounded (Goldberg 1991): 0.5 demands the
/// correctly rounded result. `bound` is 0 or more.
constexpr Accuracy ulps(double bound) { return {false, bound, false}; }

}  // namespace opgate
