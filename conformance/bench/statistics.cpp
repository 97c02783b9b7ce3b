#include "bench/statistics.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <cmath>

namespace opgate {
namespace {

constexpr double kConfidence = 0.95;

// The largest rank r such that r or fewer of n values lie below the median with probability of at most
// (1 - confidence) / 2, where each value lies below it with probability 1/2. The sorted values r and n - 1
// - r, counted from 0, are the bounds of the interval.
size_t outer_rank(size_t n) {
  const auto log_factorial = [](size_t k) { return std::lgamma(static_cast<double>(k) + 1); };
  double tail = 0;
  for (size_t rank = 0;; ++rank) {
    tail += std::exp(log_factorial(n) - log_factorial(rank) - log_factorial(n - rank) -
                     static_cast<double>(n) * std::log(2.0));
    if (tail > (1 - kConfidence) / 2) return rank - 1;
  }
}

}  // namespace

double median(std::vector<double> values) {
  TORCH_INTERNAL_ASSERT(!values.empty());
  std::ranges::sort(values);
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

Interval median_interval(std::vector<double> values) {
  TORCH_INTERNAL_ASSERT(values.size() >= kFewestValues);
  std::ranges::sort(values);
  const size_t rank = outer_rank(values.size());
  return {values[rank], values[values.size() - 1 - rank]};
}

}  // namespace opgate
