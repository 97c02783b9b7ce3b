// Times an operator and its baseline. Each round times one batch of calls of each side, so that whatever
// slows the machine for a while slows both.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "bench/rounds.h"
#include "bench/statistics.h"

namespace opgate {

/// Makes `calls` calls, and returns the seconds that they took together.
using TimedCalls = std::function<double(int64_t calls)>;

/// How long to measure.
struct Effort {
  size_t rounds = 31;           ///< rounds before the interval is first compared with the limit
  size_t most_rounds = 248;     ///< the most rounds; their number doubles while the result is unclear
  double most_seconds = 10;     ///< the most measured time; then kFewestValues rounds are enough
  double warm_seconds = 0.05;   ///< how long each side runs before the first round
  double batch_seconds = 2e-3;  ///< how long a batch should take
};

/// Whether a measurement meets a speed limit; unclear where the limit lies inside the interval.
enum class Speed { met, missed, unclear };

Speed judge_speed(const Interval& interval, double limit);

struct Measurement {
  double ratio = 0;             ///< median baseline time / operator time: above 1, the operator is faster
  Interval interval;            ///< confidence interval of `ratio`
  double op_seconds = 0;        ///< median time of one call
  double baseline_seconds = 0;  ///< median time of one call
  size_t rounds = 0;
};

/// Warms both sides up, chooses the number of calls in a batch, and measures. A round is one batch of each
/// side; the side that goes first alternates. `rounds` and `before_round` may throw to end the measurement.
Measurement measure(const TimedCalls& op, const TimedCalls& baseline, const Effort& effort,
                    std::optional<double> limit, const std::function<void()>& before_round,
                    const Rounds& rounds = {});

/// The median time, in seconds, of one call of a single contender.
double seconds_per_call(const TimedCalls& contender, const Effort& effort);

}  // namespace opgate
