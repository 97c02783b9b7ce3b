#include "gate/call_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

namespace opgate {
namespace {

// Which group of PlannedCases the call is in, by device: calls with equal positions have equal checks.
using Positions = std::map<std::string, size_t>;

std::string first_variant(const CallGroup& group) {
  std::string first;
  for (const auto& [sample, variants] : group.variants) {
    const std::string& least = *std::ranges::min_element(variants);
    if (first.empty() || least < first) first = least;
  }
  return first;
}

size_t number_of_cases(const CallGroup& group) {
  size_t cases = 0;
  for (const auto& [device, checks] : group.checks) {
    for (const auto& [check, dtypes] : checks) cases += dtypes.size();
  }
  return cases;
}

// Among groups with the same first variant, the one with the most checks comes first. This order does not
// depend on the samples, so that a new sample whose calls have the checks of others renames no group.
void name_groups(std::vector<CallGroup>& groups) {
  for (CallGroup& group : groups) group.name = first_variant(group);
  std::ranges::sort(groups, [](const CallGroup& a, const CallGroup& b) {
    const size_t cases_of_a = number_of_cases(a), cases_of_b = number_of_cases(b);
    return std::tie(a.name, cases_of_b, a.checks) < std::tie(b.name, cases_of_a, b.checks);
  });
  std::set<std::string> names;
  for (CallGroup& group : groups) {
    const std::string first = group.name;
    for (size_t number = 2; !names.insert(group.name).second; ++number)
      group.name = fmt::format("{} {}", first, number);
  }
  std::ranges::sort(groups, {}, &CallGroup::name);
}

}  // namespace

std::vector<CallGroup> call_groups(const std::map<std::string, DeviceState>& devices) {
  std::map<std::string, std::map<std::string, Positions>> calls;  // by sample and variant
  for (const auto& [device, state] : devices) {
    for (const auto& [sample, by_position] : state.planned.by_sample()) {
      for (const auto& [position, variants] : by_position) {
        for (const std::string& variant : variants) calls[sample][variant][device] = position;
      }
    }
  }
  std::map<Positions, CallGroup> groups;
  for (const auto& [sample, by_variant] : calls) {
    for (const auto& [variant, positions] : by_variant) groups[positions].variants[sample].push_back(variant);
  }
  std::vector<CallGroup> named;
  for (auto& [positions, group] : groups) {
    for (const auto& [device, position] : positions)
      group.checks[device] = devices.at(device).planned.groups().at(position);
    named.push_back(std::move(group));
  }
  name_groups(named);
  return named;
}

}  // namespace opgate
