// The results of `opgate bench` as the user reads them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "bench/run_benches.h"

namespace opgate {

using BenchResults = std::vector<std::pair<BenchCase, BenchResult>>;

/// A line a case: ratio with its interval, limit, verdict, times, and speed beside that of a plain copy.
std::string format_bench_table(const BenchResults& results);

/// What was not timed, and why; and what missed its limit, with the file and line that demands it.
std::string format_bench_findings(const BenchResults& results);

/// "12 met, 1 missed, 4 owed (owed: no NVIDIA driver ...)"
std::string format_bench_summary(const BenchResults& results);

/// "1.23 us"
std::string format_time(double seconds);

}  // namespace opgate
