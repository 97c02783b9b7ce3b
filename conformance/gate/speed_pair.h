// The speeds of one bench in two builds, timed in turns.
#pragma once

#include <string>
#include <vector>

#include "bench/measure.h"

namespace opgate {

/// The head is refused where its speed is below this fraction of the base's. Two builds of the same source
/// differ by a few per cent because their code lies at other addresses.
inline constexpr double kMinSpeedRatio = 0.9;

struct SpeedPair {
  std::string op;        ///< its id
  std::string bench;     ///< "layer_norm 64x256 float32 forward cpu, 1 thread"
  std::string failed;    ///< why it could not be timed; empty if it was
  bool in_base = false;  ///< the base has no such bench, or could not be timed either
  /// Base time / head time: above 1 the head is faster. A bench that looks slower or faster is measured a
  /// second time, in new processes; then there are two measurements.
  std::vector<Measurement> measured;
};

using SpeedPairs = std::vector<SpeedPair>;

}  // namespace opgate
