// The median of measured values, and its confidence interval.
#pragma once

#include <cstddef>
#include <vector>

namespace opgate {

/// The bounds between which a median lies with 95 % confidence.
struct Interval {
  double low = 0;
  double high = 0;
};

/// The median of one value or more; for an even number of values, the mean of the two in the middle.
double median(std::vector<double> values);

/// The fewest values that give a median with 95 % confidence: n values all lie on one side of the median
/// with probability 2 / 2^n, which is below 5 % from n = 6.
inline constexpr size_t kFewestValues = 6;

/// The interval between two order statistics that holds the median of the values' distribution with at
/// least 95 % confidence, whatever that distribution is (Le Boudec, Performance Evaluation of Computer and
/// Communication Systems, theorem 2.1). Requires kFewestValues values or more.
Interval median_interval(std::vector<double> values);

}  // namespace opgate
