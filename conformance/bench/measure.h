// Times an operator beside its baseline: batches of calls, one of each a round, so that what slows the
// machine for a while slows both.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "bench/statistics.h"

namespace opgate {

/// Makes so many calls, and gives the seconds that they took together.
using TimedCalls = std::function<double(int64_t calls)>;

/// How much is measured.
struct Effort {
  size_t rounds = 31;           ///< before the interval is looked at
  size_t most_rounds = 248;     ///< while it does not tell; rounds double until then
  double most_seconds = 10;     ///< of measured time; then kFewestValues rounds are enough
  double warm_seconds = 0.05;   ///< of calls of each side before the first round
  double batch_seconds = 2e-3;  ///< that a batch should take
};

/// What a speed limit says of a measurement: a limit inside the interval says nothing.
enum class Speed { met, missed, unclear };

Speed judge_speed(const Interval& interval, double limit);

struct Measurement {
  double ratio = 0;       ///< median over the rounds of baseline time / operator time: above 1 it is faster
  Interval interval;      ///< of that median
  double op_seconds = 0;  ///< median of a call
  double baseline_seconds = 0;
  size_t rounds = 0;
};

/// Warms both sides, chooses the calls of a batch, and measures. A round is a batch of each; their order
/// turns from round to round. `before_round` may throw to end it.
Measurement measure(const TimedCalls& op, const TimedCalls& baseline, const Effort& effort,
                    std::optional<double> limit, const std::function<void()>& before_round);

/// The median time of a call of one side alone.
double seconds_per_call(const TimedCalls& side, const Effort& effort);

}  // namespace opgate
