#include "mutation/reached_calls.h"

#include <algorithm>

namespace opgate {

void ReachedCalls::add(Calls::Position call, Worker kind, const std::vector<int>& mutants) {
  for (const int mutant : mutants) {
    std::vector<Calls::Position>& calls = calls_[{mutant, kind}];
    const auto place = std::ranges::lower_bound(calls, call);
    if (place == calls.end() || *place != call) calls.insert(place, call);
  }
}

const std::vector<Calls::Position>& ReachedCalls::of(int mutant, Worker kind) const {
  static const std::vector<Calls::Position> none;
  const auto found = calls_.find({mutant, kind});
  return found == calls_.end() ? none : found->second;
}

std::vector<Calls::Position> spread(const std::vector<Calls::Position>& calls, size_t most) {
  if (calls.size() <= most) return calls;
  std::vector<Calls::Position> chosen;
  for (size_t i = 0; i < most; ++i) chosen.push_back(calls[i * calls.size() / most]);
  return chosen;
}

}  // namespace opgate
