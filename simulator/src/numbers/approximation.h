// Where the results of instructions that PTX calls approximate lie: at the exact value, or as far from it as
// the manual allows. A kernel that is right at both edges is right on every device, as far as these
// instructions are concerned.
#pragma once

#include <cmath>
#include <cstdint>

namespace opgate::simulator {

enum class ApproximationEdge : std::int8_t { low = -1, none = 0, high = 1 };

/// OPGATE_SIM_APPROXIMATE: exact, low or high. It is asked when a kernel is read, not when it runs. Throws
/// std::runtime_error for any other word.
ApproximationEdge approximation_edge();

/// The error of a result that is right to `bits` bits, in the units of the result.
inline double of_relative_error(double result, double bits) { return std::fabs(result) * std::exp2(-bits); }

/// `result` moved in a direction by at most `error`, less what rounding to `digits` binary digits may add.
/// Infinities, NaN and zeros stay: the manual gives them exactly.
inline double moved_to_edge(double result, double error, int digits, ApproximationEdge edge) {
  if (!std::isfinite(result) || result == 0) return result;
  const double left = error - of_relative_error(result, digits);
  return left <= 0 ? result : result + static_cast<int>(edge) * left;
}

}  // namespace opgate::simulator
