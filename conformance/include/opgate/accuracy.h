// How near to its reference an operator promises to stay.
#pragma once

namespace opgate {

struct Accuracy {
  bool exact = false;  ///< the same bits, NaN payloads and the sign of zero included
  double ulps = 0;     ///< otherwise: at most so many units in the last place of the output's dtype
  /// The units are those of the reference's result for the absolute values of the inputs, where that is
  /// larger than the result: what a sum can be expected to reach whose terms cancel (Higham, Accuracy and
  /// Stability of Numerical Algorithms, 2nd ed., 4.2).
  bool by_inputs = false;

  constexpr Accuracy scaled_by_inputs() const { return {exact, ulps, true}; }
};

/// Bitwise equal: for operators that move or select data.
constexpr Accuracy exact() { return {true, 0, false}; }

/// Within `bound` ulps of the correctly rounded result (Goldberg 1991; 0.5 is a perfect rounding).
constexpr Accuracy ulps(double bound) { return {false, bound, false}; }

}  // namespace opgate
