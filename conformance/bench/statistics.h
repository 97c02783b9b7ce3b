// The median of what was measured, and how well it is known.
#pragma once

#include <cstddef>
#include <vector>

namespace opgate {

/// Where a median lies with 95 % confidence.
struct Interval {
  double low = 0;
  double high = 0;
};

/// Of one value or more; the mean of the two in the middle where their number is even.
double median(std::vector<double> values);

/// Fewer values than these cannot give a median with 95 % confidence: 2 / 2^n of all samples lie on one side.
inline constexpr size_t kFewestValues = 6;

/// The interval between two order statistics that holds the median of what the values are drawn from with at
/// least 95 % confidence, whatever its distribution (Le Boudec, Performance Evaluation of Computer and
/// Communication Systems, theorem 2.1). Of kFewestValues or more.
Interval median_interval(std::vector<double> values);

}  // namespace opgate
