#include "plan/shard_assignment.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>

namespace opgate {
namespace {

// The least number of runs of calls per shard: the more there are, the more evenly they can be distributed.
constexpr double kRunsAPart = 8;

struct Run {
  Calls::Position begin, end;
  double seconds;
};

double mean_of(const Costs& costs) {
  Cost sum;
  for (const auto& [key, cost] : costs) {
    sum.seconds += cost.seconds;
    sum.calls += cost.calls;
  }
  return sum.calls == 0 ? 1 : sum.seconds / static_cast<double>(sum.calls);
}

double a_call(const Costs& costs, const std::string& key, double otherwise) {
  const auto known = costs.find(key);
  if (known == costs.end() || known->second.calls == 0) return otherwise;
  return known->second.seconds / static_cast<double>(known->second.calls);
}

// Groups the neighbouring calls of one operator and device, and sums their costs.
std::vector<Run> groups_of(const Calls& calls, const Costs& costs) {
  const double otherwise = mean_of(costs);
  std::vector<Run> groups;
  double seconds = 0;
  for (Calls::Position call = 0; call < calls.size(); ++call) {
    const bool is_new = call == 0 || &calls.spec(call) != &calls.spec(call - 1) ||
                        calls.device(call) != calls.device(call - 1) ||
                        calls.simulated(call) != calls.simulated(call - 1);
    if (is_new) {
      seconds = a_call(costs, cost_key(calls.spec(call), calls.device_name(call)), otherwise);
      groups.push_back({call, call, 0});
    }
    ++groups.back().end;
    groups.back().seconds += seconds;
  }
  return groups;
}

std::vector<Run> cut_small(const std::vector<Run>& groups, double most) {
  std::vector<Run> runs;
  for (const Run& group : groups) {
    const auto size = static_cast<double>(group.end - group.begin);
    const double pieces = most > 0 ? std::clamp(std::ceil(group.seconds / most), 1.0, size) : 1;
    for (double piece = 0; piece < pieces; ++piece) {
      const auto at = [&](double part) {
        return group.begin + static_cast<Calls::Position>(std::llround(size * part / pieces));
      };
      runs.push_back({at(piece), at(piece + 1), group.seconds / pieces});
    }
  }
  return runs;
}

}  // namespace

ShardAssignment::ShardAssignment(const Shard& shard, const Calls& calls, const Costs& costs)
    : shard_(shard), calls_(calls.size(), false) {
  const std::vector<Run> groups = groups_of(calls, costs);
  double total = 0;
  for (const Run& group : groups) total += group.seconds;
  std::vector<Run> runs = cut_small(groups, total / (kRunsAPart * shard.count));
  // Each run, the longest first, goes to the shard with the least work so far. So no shard takes longer
  // than another by more than one run.
  std::ranges::stable_sort(runs, std::greater(), &Run::seconds);
  using Load = std::pair<double, uint32_t>;  // seconds, index of the shard
  std::priority_queue<Load, std::vector<Load>, std::greater<>> parts;
  for (uint32_t part = 1; part <= shard.count; ++part) parts.emplace(0, part);
  for (const Run& run : runs) {
    const auto [seconds, part] = parts.top();
    parts.pop();
    parts.emplace(seconds + run.seconds, part);
    if (part == shard.index) std::fill(calls_.begin() + run.begin, calls_.begin() + run.end, true);
  }
}

}  // namespace opgate
