#include "plan/case_set.h"

#include <algorithm>
#include <functional>

namespace opgate {

CaseSet::CaseSet(const Calls& calls, const ShardAssignment& part) : calls_(calls), cases_(calls.cases()) {
  for (Calls::Position call = 0; call < calls.size(); ++call) {
    if (!part.holds(call)) continue;
    const auto first = cases_.begin() + static_cast<std::ptrdiff_t>(calls.first_case(call));
    std::fill_n(first, calls.checks(call).size(), true);
    size_ += calls.checks(call).size();
  }
}

std::optional<size_t> CaseSet::number(Calls::Position call, const Check& check) const {
  const CheckList& checks = calls_.checks(call);
  const auto found = std::ranges::find(checks, &check);
  if (found == checks.end()) return std::nullopt;
  return calls_.first_case(call) + static_cast<size_t>(found - checks.begin());
}

bool CaseSet::contains(Calls::Position call, const Check& check) const {
  const auto at = number(call, check);
  return at && cases_[*at];
}

CheckList CaseSet::of(Calls::Position call) const {
  CheckList left;
  size_t at = calls_.first_case(call);
  for (const Check* check : calls_.checks(call)) {
    if (cases_[at++]) left.push_back(check);
  }
  return left;
}

void CaseSet::add(Calls::Position call, const Check& check) {
  const auto at = number(call, check);
  if (!at || cases_[*at]) return;
  cases_[*at] = true;
  ++size_;
}

bool CaseSet::remove(Calls::Position call, const Check& check) {
  const auto at = number(call, check);
  if (!at || !cases_[*at]) return false;
  cases_[*at] = false;
  --size_;
  return true;
}

size_t CaseSet::calls_with(Worker worker, bool simulated) const {
  size_t count = 0;
  for (Calls::Position call = 0; call < calls_.size(); ++call)
    count += calls_.simulated(call) == simulated &&
             std::ranges::count(of(call), worker,
                                [&](const Check* check) { return calls_.worker(call, *check); }) > 0;
  return count;
}

CallIndex::CallIndex(const Calls& calls) : calls_(calls) {
  by_hash_.reserve(calls.size());
  for (Calls::Position call = 0; call < calls.size(); ++call)
    by_hash_.emplace(std::hash<std::string>()(calls.id(call)), call);
}

std::optional<Calls::Position> CallIndex::find(std::string_view call_id) const {
  const auto [begin, end] = by_hash_.equal_range(std::hash<std::string_view>()(call_id));
  for (auto entry = begin; entry != end; ++entry) {
    if (calls_.id(entry->second) == call_id) return entry->second;
  }
  return std::nullopt;
}

}  // namespace opgate
