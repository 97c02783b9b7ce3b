#include "watch/init/unwritten_loads.h"

#include <algorithm>
#include <iterator>

namespace opgate::simulator {

std::uint32_t UnwrittenLoads::add_set(std::vector<std::uint32_t> loads) {
  const auto [known, is_new] = known_.try_emplace(loads, static_cast<std::uint32_t>(sets_.size()));
  if (is_new) {
    unreported_.push_back(
        std::ranges::any_of(loads, [&](std::uint32_t load) { return !loads_[load].is_reported; }));
    sets_.push_back(std::move(loads));
  }
  return known->second;
}

std::uint32_t UnwrittenLoads::meet(std::uint32_t site, const std::function<Finding()>& describe) {
  const auto [known, is_new] = of_launch_.try_emplace(site, 0);
  if (is_new) {
    loads_.push_back({describe()});
    known->second = add_set({static_cast<std::uint32_t>(loads_.size() - 1)});
  } else {
    ++loads_[sets_[known->second].front()].finding.count;
  }
  return known->second;
}

std::uint32_t UnwrittenLoads::joined(std::uint32_t some, std::uint32_t others) {
  if (some == others || others == 0) return some;
  if (some == 0) return others;
  const auto [known, is_new] = joined_.try_emplace(std::minmax(some, others), 0);
  if (is_new) {
    std::vector<std::uint32_t> all;
    std::ranges::set_union(sets_[some], sets_[others], std::back_inserter(all));
    known->second = add_set(std::move(all));
  }
  return known->second;
}

void UnwrittenLoads::use(std::uint32_t loads, const FindingPlace& where) {
  if (!may_report(loads)) return;
  for (const std::uint32_t index : sets_[loads]) {
    Load& load = loads_[index];
    if (std::exchange(load.is_reported, true)) continue;
    load.finding.other = where;
    to_take_.push_back(index);
  }
  for (std::size_t i = 0; i < sets_.size(); ++i) {
    unreported_[i] =
        std::ranges::any_of(sets_[i], [&](std::uint32_t load) { return !loads_[load].is_reported; });
  }
}

void UnwrittenLoads::for_each_of_launch(const std::function<void(Finding&)>& change) {
  for (const auto& [site, set] : of_launch_) change(loads_[sets_[set].front()].finding);
}

std::vector<Finding> UnwrittenLoads::take() {
  std::vector<Finding> findings;
  for (const std::uint32_t index : to_take_) findings.push_back(loads_[index].finding);
  to_take_.clear();
  return findings;
}

}  // namespace opgate::simulator
