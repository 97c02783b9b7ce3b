#include "run/cost_tracker.h"
#include "plan/case_parts.h"
#include "spec/spec.h"

#include <set>

namespace opgate {

CostTracker::CostTracker(const Calls& calls, const CaseSet& todo) : calls_(calls) {
  for (Calls::Position call = 0; call < calls.size(); ++call) {
    if (!todo.of(call).empty()) ++costs_[{&calls.spec(call), calls.device_name(call)}].calls;
  }
}

void CostTracker::add(const Job& job, double seconds) {
  if (job.call) {
    costs_[{&calls_.spec(*job.call), calls_.device_name(*job.call)}].seconds += seconds;
    return;
  }
  if (!job.preparation.contains("package")) return;  // running packages takes negligible time
  const nlohmann::json& package = job.preparation.at("package");
  std::set<std::string> ops;
  for (const nlohmann::json& call : package.at("calls")) {
    ops.emplace(parts_of_call(call.get_ref<const std::string&>()).op);
  }
  for (auto& [key, cost] : costs_) {
    if (ops.contains(key.first->id) && key.second == package.at("device"))
      cost.seconds += seconds / static_cast<double>(ops.size());
  }
}

Costs CostTracker::costs() const {
  Costs costs;
  for (const auto& [key, cost] : costs_) costs[cost_key(*key.first, key.second)] = cost;
  return costs;
}

}  // namespace opgate
