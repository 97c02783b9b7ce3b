#include "bench/measure.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace opgate {
namespace {

// The most calls in a batch, for calls that are too short for the clock.
constexpr int64_t kMostCalls = int64_t{1} << 22;

// Warms one contender up, and runs batches of as many calls as fill effort.batch_seconds.
class Batches {
 public:
  Batches(const TimedCalls& contender, const Effort& effort) : side_(contender) {
    contender(1);  // not timed: the first call finds caches, pools and pages cold
    double warm = 0;
    double last = 0;
    int64_t calls = 1;
    while (true) {
      warm += last = contender(calls);
      if (warm >= effort.warm_seconds || calls >= kMostCalls) break;
      calls *= 2;
    }
    const double wanted = last > 0 ? effort.batch_seconds / (last / static_cast<double>(calls)) : kMostCalls;
    calls_ = std::clamp(static_cast<int64_t>(std::llround(std::min<double>(wanted, kMostCalls))), int64_t{1},
                        kMostCalls);
  }

  // Runs one batch, and returns its seconds per call.
  double run() {
    const double seconds = side_(calls_);
    total_ += seconds;
    per_call_.push_back(seconds / static_cast<double>(calls_));
    return per_call_.back();
  }

  double median_seconds() const { return median(per_call_); }
  double total() const { return total_; }

 private:
  const TimedCalls& side_;
  int64_t calls_ = 1;
  double total_ = 0;
  std::vector<double> per_call_;
};

}  // namespace

Speed judge_speed(const Interval& interval, double limit) {
  if (interval.low >= limit) return Speed::met;
  return interval.high < limit ? Speed::missed : Speed::unclear;
}

Measurement measure(const TimedCalls& op, const TimedCalls& baseline, const Effort& effort,
                    std::optional<double> limit, const std::function<void()>& before_round,
                    const Rounds& rounds) {
  Batches mine(op, effort);
  Batches theirs(baseline, effort);
  rounds.start();
  std::vector<double> ratios;
  const auto round = [&] {
    before_round();
    rounds.renew();
    const bool op_first = ratios.size() % 2 == 0;
    const double first = op_first ? mine.run() : theirs.run();
    const double second = op_first ? theirs.run() : mine.run();
    rounds.check();
    ratios.push_back(op_first ? second / first : first / second);
  };
  const auto enough = [&](size_t done) {
    if (done < kFewestValues) return false;
    if (mine.total() + theirs.total() >= effort.most_seconds || done >= effort.most_rounds) return true;
    if (done < effort.rounds || !limit) return done >= effort.rounds;
    // The interval is compared with the limit only a few times, because each comparison adds to the chance
    // of a wrong verdict.
    const bool look = done % effort.rounds == 0 && std::has_single_bit(done / effort.rounds);
    return look && judge_speed(median_interval(ratios), *limit) != Speed::unclear;
  };
  while (!enough(ratios.size())) round();
  return {median(ratios), median_interval(ratios), mine.median_seconds(), theirs.median_seconds(),
          ratios.size()};
}

double seconds_per_call(const TimedCalls& contender, const Effort& effort) {
  Batches batches(contender, effort);
  for (size_t round = 0; round < effort.rounds; ++round) batches.run();
  return batches.median_seconds();
}

}  // namespace opgate
