#include "gate/base/speed_pairs.h"

#include <memory>
#include <stdexcept>

#include "bench/timing_process.h"

namespace opgate {
namespace {

// Few rounds, because there are many benches and an operator that looks slower is measured for longer.
constexpr Effort kEffort{.rounds = 31, .most_rounds = 248, .most_seconds = 5};

// Exceptions that say which side could not be timed.
struct BaseFailed : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct HeadFailed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The two processes of a comparison, one for the base and one for the head.
class Pair {
 public:
  Pair(const Command& base, const Command& head, const std::filesystem::path& logs)
      : base_(base, logs / "stopwatch-base.log"), head_(head, logs / "stopwatch-head.log") {}

  // The benches of the base. A bench that the head lacks counts as failed.
  const std::vector<std::string>& benches() const { return base_.benches(); }

  // Times `bench` in both processes in turns. Throws BaseFailed and HeadFailed.
  Measurement measured(const std::string& bench) {
    open<BaseFailed>(base_, bench);
    open<HeadFailed>(head_, bench);
    const auto timed = [](StopwatchProcess& process) {
      return [&process](int64_t calls) { return process.seconds_of(calls); };
    };
    return measure(timed(head_), timed(base_), kEffort, kMinSpeedRatio, [] {});
  }

 private:
  template <class Failed>
  static void open(StopwatchProcess& process, const std::string& bench) {
    try {
      process.open(bench);
    } catch (const std::runtime_error& error) {  // the operator raised, or the process ended
      throw Failed(error.what());
    }
  }

  StopwatchProcess base_;
  StopwatchProcess head_;
};

bool is_another(const Measurement& measured) {
  return measured.interval.high < kMinSpeedRatio || measured.interval.low > 1 / kMinSpeedRatio;
}

}  // namespace

SpeedPairs compare_speeds(const Command& base, const Command& head, const std::filesystem::path& logs,
                          const OnBench& on_bench) {
  auto first = std::make_unique<Pair>(base, head, logs);
  SpeedPairs pairs;
  const std::vector<std::string> benches = first->benches();
  for (const std::string& bench : benches) {
    on_bench(bench, pairs.size(), benches.size());
    SpeedPair& pair = pairs.emplace_back();
    pair.op = bench.substr(0, bench.find(' '));
    pair.bench = bench;
    try {
      pair.measured.push_back(first->measured(bench));
      // The second measurement is made in new processes, because the placement of code and data in memory
      // changes with each process and affects the time.
      if (is_another(pair.measured[0])) pair.measured.push_back(Pair(base, head, logs).measured(bench));
    } catch (const BaseFailed& error) {
      pair.failed = error.what();
      pair.in_base = true;
      first = std::make_unique<Pair>(base, head, logs);  // a process may have ended
    } catch (const std::runtime_error& error) {          // the head, or either side while it was timed
      pair.failed = error.what();
      first = std::make_unique<Pair>(base, head, logs);
    }
  }
  return pairs;
}

}  // namespace opgate
