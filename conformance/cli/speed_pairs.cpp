#include "cli/speed_pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "bench/contest.h"
#include "bench/stopwatch_process.h"
#include "cli/terminal.h"

namespace opgate {
namespace {

// Of few rounds: there are many benches, and what looks slower is measured for longer.
constexpr Effort kEffort{.rounds = 31, .most_rounds = 248, .most_seconds = 5};

// The two processes of a comparison.
class Pair {
 public:
  Pair(const Command& base, const Command& head, const std::filesystem::path& logs)
      : base_(base, logs / "stopwatch-base.log"), head_(head, logs / "stopwatch-head.log") {}

  // In the order of the head.
  std::vector<std::string> benches() const {
    std::vector<std::string> both;
    std::ranges::copy_if(head_.benches(), std::back_inserter(both), [&](const std::string& bench) {
      return std::ranges::find(base_.benches(), bench) != base_.benches().end();
    });
    return both;
  }

  // Throws SideRaised.
  Measurement measured(const std::string& bench) {
    base_.open(bench);
    head_.open(bench);
    const auto timed = [](StopwatchProcess& process) {
      return [&process](int64_t calls) { return process.seconds_of(calls); };
    };
    return measure(timed(head_), timed(base_), kEffort, kAsFast, [] {});
  }

 private:
  StopwatchProcess base_;
  StopwatchProcess head_;
};

bool is_another(const Measurement& measured) {
  return measured.interval.high < kAsFast || measured.interval.low > 1 / kAsFast;
}

}  // namespace

SpeedPairs compare_speeds(const Command& base, const Command& head, const std::filesystem::path& logs) {
  Pair first(base, head, logs);
  ProgressLine progress;
  SpeedPairs pairs;
  const std::vector<std::string> benches = first.benches();
  for (const std::string& bench : benches) {
    if (progress.is_due())
      progress.show(fmt::format("{:3} % | {}", 100 * pairs.size() / benches.size(), bench));
    SpeedPair& pair = pairs.emplace_back(SpeedPair{bench.substr(0, bench.find(' ')), bench, "", {}});
    try {
      pair.measured.push_back(first.measured(bench));
      // New processes: where code and data lie in memory is drawn anew with each.
      if (is_another(pair.measured[0])) pair.measured.push_back(Pair(base, head, logs).measured(bench));
    } catch (const SideRaised& error) {
      pair.failed = error.what();
    }
  }
  progress.clear();
  return pairs;
}

}  // namespace opgate
