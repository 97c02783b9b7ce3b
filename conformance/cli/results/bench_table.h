// Formats the results of `opgate bench` for the user.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "bench/run_benches.h"

namespace opgate {

using BenchResults = std::vector<std::pair<BenchCase, BenchResult>>;

/// One line for each case: ratio with its interval, limit, verdict, times, and the speed relative to a
/// plain copy.
std::string format_bench_table(const BenchResults& results);

/// Says which cases were not timed, and why, and which cases missed their limit, with the file and line of
/// the bench.
std::string format_bench_findings(const BenchResults& results);

/// "12 met, 1 missed, 4 owed (owed: no NVIDIA driver ...)"
std::string format_bench_summary(const BenchResults& results);

/// "1.23 us"
std::string format_time(double seconds);

}  // namespace opgate
