#include "judging/calls/size_budget.h"

#include <algorithm>
#include <cmath>

namespace opgate {
namespace {

// The time of a call grows with a power of the size: a compiler's, of what it unrolls, with the second.
constexpr double kLeastPower = 1, kMostPower = 3;
// Sizes that are nearer to each other are multiples above the same limit, and do not show how the time grows.
constexpr double kNextLimit = 1.5;

double ratio(int64_t size, int64_t to) { return static_cast<double>(size) / static_cast<double>(to); }

}  // namespace

bool SizeBudget::allows(int64_t present, int64_t size) {
  double expected = 0;
  if (const auto last = last_.find(present); last != last_.end())
    expected = last->second.seconds * std::pow(ratio(size, last->second.size), last->second.power);
  if (spent_ + expected <= most_seconds_) return true;
  left_out_.insert(size);
  return false;
}

void SizeBudget::add(int64_t present, int64_t size, double seconds) {
  spent_ += seconds;
  const auto [last, is_first] = last_.try_emplace(present, Call{size, seconds, kLeastPower});
  if (is_first) return;
  Call& call = last->second;
  const double larger = ratio(size, call.size);
  if (larger < kNextLimit) {  // what it needs may have been compiled for the call before
    call.seconds = std::max(call.seconds, seconds);
    return;
  }
  const double power = std::log(seconds / call.seconds) / std::log(larger);
  call = {size, seconds, std::clamp(power, kLeastPower, kMostPower)};
}

}  // namespace opgate
