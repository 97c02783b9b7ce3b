#include "watch/findings.h"

#include <utility>

namespace opgate::simulator {

bool Findings::is_new(Finding::Kind kind, const std::string& kernel, std::uint32_t site,
                      std::uint32_t other_site) {
  const auto known = known_.find({kind, kernel, site, other_site});
  if (known != known_.end()) {
    ++all_[known->second].count;
    return false;
  }
  if (all_.size() >= kMost) {
    ++dropped_;
    return false;
  }
  known_[{kind, kernel, site, other_site}] = all_.size();
  return true;
}

void Findings::add(Finding finding) { all_.push_back(std::move(finding)); }

std::vector<Finding> Findings::take() {
  known_.clear();
  dropped_ = 0;
  return std::exchange(all_, {});
}

}  // namespace opgate::simulator
