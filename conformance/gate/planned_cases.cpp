#include "gate/planned_cases.h"

#include <opgate/error.h>

#include <limits>

#include "judging/check.h"

namespace opgate {

size_t total(const ByDtype<size_t>& counts) {
  size_t sum = 0;
  for (const auto& [dtype, count] : counts) sum += count;
  return sum;
}

CaseCounts of_calls(CaseCounts counts) {
  std::erase_if(counts, [](const auto& entry) { return !needs_device(entry.first); });
  return counts;
}

size_t total(const CaseCounts& counts) {
  size_t sum = 0;
  for (const auto& [check, by_dtype] : counts) sum += total(by_dtype);
  return sum;
}

size_t PlannedCases::group_of(const CheckedDtypes& checks) {
  const auto [place, is_new] = positions_.try_emplace(checks, groups_.size());
  if (is_new) groups_.push_back(checks);
  return place->second;
}

void PlannedCases::add(const std::string& sample, const std::string& variant, const CheckedDtypes& checks) {
  const auto known = calls_.find({sample, variant});
  if (known == calls_.end()) {
    calls_[{sample, variant}] = group_of(checks);
    return;
  }
  CheckedDtypes both = groups_[known->second];
  for (const auto& [check, dtypes] : checks) both[check].insert(dtypes.begin(), dtypes.end());
  known->second = group_of(both);
}

const CheckedDtypes* PlannedCases::find(const std::string& sample, const std::string& variant) const {
  const auto call = calls_.find({sample, variant});
  return call == calls_.end() ? nullptr : &groups_[call->second];
}

bool PlannedCases::contains(const std::string& sample, const std::string& variant,
                            const std::string& dtype) const {
  const CheckedDtypes* checks = find(sample, variant);
  if (checks == nullptr) return false;
  for (const auto& [check, dtypes] : *checks) {
    if (dtypes.contains(dtype)) return true;
  }
  return false;
}

CaseCounts PlannedCases::count() const {
  CaseCounts counts;
  for (const auto& [call, group] : calls_) {
    for (const auto& [check, dtypes] : groups_[group]) {
      for (const std::string& dtype : dtypes) ++counts[check][dtype];
    }
  }
  return counts;
}

PlannedCases PlannedCases::of_checks(const std::function<bool(const std::string&)>& keep) const {
  std::vector<CheckedDtypes> kept = groups_;
  for (CheckedDtypes& group : kept)
    std::erase_if(group, [&](const auto& entry) { return !keep(entry.first); });
  PlannedCases some;
  for (const auto& [call, group] : calls_) {
    if (!kept[group].empty()) some.add(call.first, call.second, kept[group]);
  }
  return some;
}

std::map<std::string, std::map<size_t, std::vector<std::string>>> PlannedCases::by_sample() const {
  std::map<std::string, std::map<size_t, std::vector<std::string>>> samples;
  for (const auto& [call, group] : calls_) samples[call.first][group].push_back(call.second);
  return samples;
}

std::set<std::string> PlannedCases::samples() const {
  std::set<std::string> names;
  for (const auto& [call, group] : calls_) names.insert(call.first);
  return names;
}

std::vector<PlannedCase> PlannedCases::lost_in(const PlannedCases& later,
                                               const std::map<std::string, std::string>& renamed) const {
  std::vector<PlannedCase> lost;
  for (const auto& [call, group] : calls_) {
    const auto& [sample, variant] = call;
    const auto new_name = renamed.find(sample);
    const CheckedDtypes* now = later.find(new_name == renamed.end() ? sample : new_name->second, variant);
    if (now != nullptr && *now == groups_[group]) continue;
    for (const auto& [check, dtypes] : groups_[group]) {
      const auto still = now == nullptr ? CheckedDtypes::const_iterator() : now->find(check);
      for (const std::string& dtype : dtypes) {
        const bool planned = now != nullptr && still != now->end() && still->second.contains(dtype);
        if (!planned) lost.push_back({sample, variant, dtype, check});
      }
    }
  }
  return lost;
}

// Positions of groups depend on the order in which calls were added, so the groups themselves are compared.
bool PlannedCases::operator==(const PlannedCases& other) const {
  if (calls_.size() != other.calls_.size()) return false;
  for (const auto& [call, group] : calls_) {
    const CheckedDtypes* theirs = other.find(call.first, call.second);
    if (theirs == nullptr || *theirs != groups_[group]) return false;
  }
  return true;
}

uint16_t PlannedCasesBuilder::number_of(std::string_view word) {
  const auto known = numbers_.find(word);
  if (known != numbers_.end()) return known->second;
  if (words_.size() > std::numeric_limits<uint16_t>::max())
    throw SetupError("there are more than 65536 checks and dtypes in these results");
  const auto number = static_cast<uint16_t>(words_.size());
  words_.emplace_back(word);
  numbers_.emplace(word, number);
  return number;
}

void PlannedCasesBuilder::add(std::string_view sample, std::string_view variant, std::string_view dtype,
                              std::string_view check) {
  auto of_sample = calls_.find(sample);
  if (of_sample == calls_.end()) of_sample = calls_.try_emplace(std::string(sample)).first;
  auto call = of_sample->second.find(variant);
  if (call == of_sample->second.end()) call = of_sample->second.try_emplace(std::string(variant)).first;
  call->second.emplace_back(number_of(check), number_of(dtype));
}

PlannedCases PlannedCasesBuilder::build() const {
  PlannedCases planned;
  for (const auto& [sample, variants] : calls_) {
    for (const auto& [variant, cases] : variants) {
      CheckedDtypes checks;
      for (const auto& [check, dtype] : cases) checks[words_[check]].insert(words_[dtype]);
      planned.add(sample, variant, checks);
    }
  }
  return planned;
}

}  // namespace opgate
