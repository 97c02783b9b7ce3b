#include "mutation/reached_calls.h"

#include <algorithm>

namespace opgate {
namespace {

// Larger than the samples of a dtype, and a multiple of no small number.
constexpr size_t kStep = 37;

}  // namespace

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

std::vector<Calls::Position> spread(const Calls& plan, const std::vector<Calls::Position>& calls,
                                    size_t most) {
  if (calls.size() <= most) return calls;
  std::map<std::pair<const Spec*, std::string>, std::vector<Calls::Position>> groups;
  for (const Calls::Position call : calls) {
    const CallKey key = plan.key(call);
    groups[{key.spec, key.is_contiguous() ? key.sample->name : key.variant}].push_back(call);
  }
  std::vector<Calls::Position> chosen;
  size_t groups_left = groups.size();
  for (const auto& [name, of_group] : groups) {
    const size_t left = most - std::min(most, chosen.size());
    const size_t count = std::min(of_group.size(), std::max<size_t>(1, left / groups_left--));
    // Each group begins elsewhere: otherwise the calls of all variants would have the first dtype.
    const size_t begin = groups_left * kStep % of_group.size();
    for (size_t i = 0; i < count; ++i)
      chosen.push_back(of_group[(begin + i * of_group.size() / count) % of_group.size()]);
  }
  std::ranges::sort(chosen);
  return chosen;
}

}  // namespace opgate
