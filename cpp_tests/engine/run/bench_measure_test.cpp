// How a speed ratio is measured. The two sides only report how long they take; no clock is used.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "bench/measure.h"
#include "values/counter.h"

namespace opgate::bench_measure_test {
namespace {

std::vector<double> up_to(size_t n) {
  std::vector<double> values(n);
  std::iota(values.rbegin(), values.rend(), 1.0);  // n ... 2, 1: the times need not be sorted
  return values;
}

// Two sides on one machine, whose speed may change over time.
struct Machine {
  double now = 0;
  std::function<double(double now)> slowness = [](double) { return 1; };
  std::vector<std::pair<char, int64_t>> batches;

  TimedCalls side(char name, double seconds_per_call) {
    return [=, this](int64_t calls) {
      const double seconds = static_cast<double>(calls) * seconds_per_call * slowness(now);
      now += seconds;
      batches.emplace_back(name, calls);
      return seconds;
    };
  }

  std::string order_of_last(size_t count) const {
    std::string names;
    for (size_t i = batches.size() - count; i < batches.size(); ++i) names += batches[i].first;
    return names;
  }
};

void nothing() {}

TEST(Median, IsTheMiddleOrTheMeanOfTheTwoInTheMiddle) {
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({5, 1, 9}), 5);
  EXPECT_EQ(median({4, 1, 3, 100}), 3.5);
}

// The ranks are those of the tables in Le Boudec, appendix A, and Conover, Practical Nonparametric
// Statistics, table A3.
TEST(MedianInterval, HasTheRanksOfPublishedTables) {
  struct Row {
    size_t n;
    double low;
    double high;
  };
  for (const Row& row : {Row{6, 1, 6},
                         {8, 1, 8},
                         {9, 2, 8},
                         {10, 2, 9},
                         {20, 6, 15},
                         {31, 10, 22},
                         {50, 18, 33},
                         {70, 27, 44}}) {
    const Interval interval = median_interval(up_to(row.n));
    EXPECT_EQ(interval.low, row.low) << row.n;
    EXPECT_EQ(interval.high, row.high) << row.n;
  }
}

TEST(MedianInterval, HoldsTheMedianInNineteenOfTwentySamplesOfASkewedDistribution) {
  constexpr int kSamples = 2000;
  int held = 0;
  for (int sample = 0; sample < kSamples; ++sample) {
    std::vector<double> values;
    for (uint64_t i = 0; i < 31; ++i) values.push_back(-std::log(1 - unit_at(mix64(sample + 1), i)));
    const Interval interval = median_interval(values);
    held += interval.low <= std::log(2.0) && std::log(2.0) <= interval.high;
  }
  EXPECT_GT(held, 0.95 * kSamples);
  EXPECT_LT(held, 0.99 * kSamples) << "wider than it need be";
}

TEST(MedianInterval, TakesAsManyValuesAsADayGives) {
  const Interval interval = median_interval(up_to(100001));
  EXPECT_NEAR(interval.low, 50001 - 310, 2);  // n/2 - 0.98 sqrt(n)
  EXPECT_NEAR(interval.high, 50001 + 310, 2);
}

TEST(Measure, SaysHowManyTimesAsFastAsTheBaseline) {
  Machine machine;
  const Measurement measured = measure(machine.side('A', 1e-6), machine.side('B', 3e-6), {}, {}, nothing);
  EXPECT_DOUBLE_EQ(measured.ratio, 3);
  EXPECT_DOUBLE_EQ(measured.interval.low, 3);
  EXPECT_DOUBLE_EQ(measured.interval.high, 3);
  EXPECT_DOUBLE_EQ(measured.op_seconds, 1e-6);
  EXPECT_DOUBLE_EQ(measured.baseline_seconds, 3e-6);
}

TEST(Measure, TurnsTheOrderFromRoundToRound) {
  Machine machine;
  const Measurement measured =
      measure(machine.side('A', 1e-5), machine.side('B', 1e-5), {.rounds = 8, .most_rounds = 8}, {}, nothing);
  EXPECT_EQ(measured.rounds, 8u);
  EXPECT_EQ(machine.order_of_last(16), "ABBAABBAABBAABBA");
}

TEST(Measure, MakesAsManyCallsABatchAsTakeTheTimeOfOne) {
  Machine machine;
  measure(machine.side('A', 1e-5), machine.side('B', 1e-4), {.batch_seconds = 2e-3}, {}, nothing);
  const auto last = machine.batches.back();
  const auto before = machine.batches[machine.batches.size() - 2];
  EXPECT_EQ(last.first == 'A' ? last.second : before.second, 200);
  EXPECT_EQ(last.first == 'B' ? last.second : before.second, 20);
}

TEST(Measure, MakesOneCallABatchOfWhatTakesLonger) {
  Machine machine;
  const Measurement measured = measure(machine.side('A', 1.0), machine.side('B', 2.0),
                                       {.rounds = 8, .most_seconds = 1e9}, {}, nothing);
  EXPECT_EQ(machine.batches.back().second, 1);
  EXPECT_EQ(measured.rounds, 8u);
}

TEST(Measure, WarmsBothSidesBeforeTheFirstRound) {
  Machine machine;
  double warm = 0;
  const auto before_round = [&] { warm = warm == 0 ? machine.now : warm; };
  measure(machine.side('A', 1e-4), machine.side('B', 1e-4), {.warm_seconds = 0.3}, {}, before_round);
  EXPECT_GT(warm, 0.6);
  EXPECT_LT(warm, 1.5);
}

TEST(Measure, EndsThoughAClockStandsStill) {
  Machine machine;
  const Measurement measured =
      measure(machine.side('A', 0), machine.side('B', 0), {.rounds = 6, .most_rounds = 6}, {}, nothing);
  EXPECT_EQ(measured.rounds, 6u);
}

// This is why sides are measured in rounds: if one side were measured after the other, a machine that gets
// slower would make the second one look slow.
TEST(Measure, IsNotMisledByAMachineThatGrowsSlower) {
  Machine machine;
  machine.slowness = [](double now) { return 1 + 5 * now; };
  const Measurement measured = measure(machine.side('A', 1e-5), machine.side('B', 2e-5), {}, {}, nothing);
  EXPECT_NEAR(measured.ratio, 2, 0.02);
  EXPECT_GT(machine.slowness(machine.now), 2);
}

TEST(Measure, IsNotMisledByAMachineThatIsBusyForAWhile) {
  Machine machine;
  machine.slowness = [](double now) { return now > 0.12 && now < 0.16 ? 10 : 1; };
  const Measurement measured = measure(machine.side('A', 1e-5), machine.side('B', 2e-5), {}, {}, nothing);
  EXPECT_DOUBLE_EQ(measured.ratio, 2);
}

// The first call of each round is slow, so that the ratios alternate between 0.8 and 1.25.
struct Uncertain : Machine {
  Uncertain() {
    slowness = [this](double) { return batches.size() % 2 == 0 ? 1.25 : 1; };
  }
};

TEST(Measure, GoesOnUntilTheCapWhileTheLimitIsInsideTheInterval) {
  Uncertain machine;
  const Effort effort{.rounds = 10, .most_rounds = 80, .warm_seconds = 1e-5};
  const Measurement measured =
      measure(machine.side('A', 1e-3), machine.side('B', 1e-3), effort, 1.0, nothing);
  EXPECT_EQ(measured.rounds, 80u);
  EXPECT_EQ(judge_speed(measured.interval, 1.0), Speed::unclear);
}

TEST(Measure, StopsOnceTheLimitIsOutsideTheInterval) {
  for (const double limit : {0.5, 2.0}) {
    Uncertain machine;
    const Effort effort{.rounds = 10, .most_rounds = 80, .warm_seconds = 1e-5};
    EXPECT_EQ(measure(machine.side('A', 1e-3), machine.side('B', 1e-3), effort, limit, nothing).rounds, 10u);
  }
}

TEST(Measure, AsksNoMoreThanItsRoundsWithoutALimit) {
  Uncertain machine;
  const Effort effort{.rounds = 10, .most_rounds = 80};
  EXPECT_EQ(measure(machine.side('A', 1e-3), machine.side('B', 1e-3), effort, {}, nothing).rounds, 10u);
}

TEST(Measure, EndsWithTheSecondsThatItIsGiven) {
  Machine machine;
  const Effort effort{.rounds = 1000, .most_rounds = 1000, .most_seconds = 0.4};
  EXPECT_EQ(measure(machine.side('A', 1e-2), machine.side('B', 1e-2), effort, {}, nothing).rounds, 20u);
  const Effort too_short{.rounds = 1000, .most_rounds = 1000, .most_seconds = 1e-9};
  EXPECT_EQ(measure(machine.side('A', 1e-2), machine.side('B', 1e-2), too_short, {}, nothing).rounds,
            kFewestValues);
}

TEST(Measure, IsEndedByWhatIsThrownBeforeARound) {
  Machine machine;
  int rounds = 0;
  const auto stop = [&] {
    if (++rounds == 4) throw std::runtime_error("enough");
  };
  EXPECT_THROW(measure(machine.side('A', 1e-3), machine.side('B', 1e-3), {}, {}, stop), std::runtime_error);
}

TEST(JudgeSpeed, FailsOnlyWhereTheWholeIntervalIsBelowTheLimit) {
  EXPECT_EQ(judge_speed({0.90, 0.94}, 0.95), Speed::missed);
  EXPECT_EQ(judge_speed({0.90, 0.95}, 0.95), Speed::unclear);
  EXPECT_EQ(judge_speed({0.94, 0.99}, 0.95), Speed::unclear);
  EXPECT_EQ(judge_speed({0.95, 0.99}, 0.95), Speed::met);
}

}  // namespace
}  // namespace opgate::bench_measure_test
