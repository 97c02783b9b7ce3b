// Measures benches one after the other, in this process.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/bench_case.h"
#include "bench/measure.h"

namespace opgate {

struct BenchResult {
  enum class Verdict {
    met,       ///< the whole interval is at or above the limit
    missed,    ///< the whole interval lies below it
    unclear,   ///< the limit lies inside
    measured,  ///< there is no limit
    owed,      ///< this machine lacks the device
    wrong,     ///< the sides disagree: not timed
    raised,    ///< one of them raised
  };

  Verdict verdict = Verdict::measured;
  std::string reason = {};                   ///< of owed, wrong and raised
  std::optional<Measurement> measured = {};  ///< none of those
  int64_t bytes = 0;                         ///< of inputs and outputs
  std::optional<double> copy_seconds = {};   ///< of a plain copy that reads and writes so many

  /// 1e9 bytes a second of the operator.
  double gigabytes_per_second() const;
  /// False for missed, wrong and raised.
  bool is_accepted() const;
};

/// As in tables and files: "met", "wrong answer".
std::string_view to_string(BenchResult::Verdict verdict);

struct BenchEvents {
  /// Called before each round, with the number of results so far and the case at hand; may throw to end it
  /// all.
  std::function<void(size_t done, const BenchCase& current)> on_round;
  std::function<void(const BenchCase& measured, const BenchResult& result)> on_result;
};

/// Gives each case a result, as it is known. Devices that are here are enabled, with torch's own allocator.
void run_benches(const std::vector<BenchCase>& cases, const Effort& effort, const BenchEvents& events);

}  // namespace opgate
