// The same bench of two builds, timed in turns.
#pragma once

#include <string>
#include <vector>

#include "bench/measure.h"

namespace opgate {

/// The head is refused where it is slower than this, beside the base: two builds of one source differ by some
/// per cent through where their code lies in memory.
inline constexpr double kAsFast = 0.9;

struct SpeedPair {
  std::string op;        ///< its id
  std::string bench;     ///< "layer_norm 64x256 float32 forward cpu, 1 thread"
  std::string failed;    ///< why it could not be timed; empty where it was
  bool in_base = false;  ///< it could not be timed in the base either, or it is not there
  /// base time / head time: above 1 the head is faster. What looks slower or faster is measured once more, in
  /// new processes; then both are here.
  std::vector<Measurement> measured;
};

using SpeedPairs = std::vector<SpeedPair>;

}  // namespace opgate
