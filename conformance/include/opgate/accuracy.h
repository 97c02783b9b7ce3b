// How near to its reference an operator promises to stay.
#pragma once

namespace opgate {

struct Accuracy {
  bool exact = false;  ///< the same bits, NaN payloads and the sign of zero included
  double ulps = 0;     ///< otherwise: at most so many units in the last place of the output's dtype
};

/// Bitwise equal: for operators that move or select data.
inline Accuracy exact() { return {true, 0}; }

/// Within `bound` ulps of the correctly rounded result (Goldberg 1991; 0.5 is a perfect rounding).
inline Accuracy ulps(double bound) { return {false, bound}; }

}  // namespace opgate
