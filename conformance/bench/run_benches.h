// Measures the cases of `opgate bench` one after the other, in this process.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/bench_case.h"
#include "bench/measure.h"

namespace opgate {

/// No call moves memory so many times as fast as a plain copy. A copy reads and writes, and an operator may
/// only write: twice the speed of a copy is possible, and some more if caches help one side.
inline constexpr double kMostOfCopySpeed = 8;

struct BenchResult {
  enum class Verdict {
    met,       ///< the whole interval is at or above the limit
    missed,    ///< the whole interval lies below it
    unclear,   ///< the limit lies inside the interval
    measured,  ///< there is no limit
    owed,      ///< not run here, because this machine lacks the device
    wrong,  ///< no speed, because the operator and the baseline disagree, or the operator does less than it claims
    raised,  ///< the operator or the baseline raised
  };

  Verdict verdict = Verdict::measured;
  std::string reason = {};                   ///< for owed, wrong and raised
  bool names_place = false;                  ///< whether `reason` begins with the place in the spec
  std::optional<Measurement> measured = {};  ///< empty for owed, wrong and raised
  int64_t bytes = 0;                         ///< size of the inputs and outputs
  std::optional<double> copy_seconds = {};   ///< time of a plain copy that moves `bytes` in total

  /// The operator's memory traffic in 1e9 bytes per second. Requires `measured`.
  double gigabytes_per_second() const;
  /// The same, divided by that of a plain copy of as many bytes. Requires `measured` and `copy_seconds`.
  double share_of_copy_speed() const;
  /// False for missed, wrong and raised.
  bool is_accepted() const;
};

/// The verdict as tables and files show it: "met", "wrong answer".
std::string_view to_string(BenchResult::Verdict verdict);

struct BenchEvents {
  /// Called before each round, with the number of results so far and the current case. It may throw to end
  /// the run.
  std::function<void(size_t done, const BenchCase& current)> on_round;
  std::function<void(const BenchCase& measured, const BenchResult& result)> on_result;
};

/// Measures each case, and reports its result as soon as it is known. Enables the devices that this machine
/// has, with torch's own allocator. Restores the number of threads at the end.
void run_benches(const std::vector<BenchCase>& cases, const Effort& effort, const BenchEvents& events);

}  // namespace opgate
