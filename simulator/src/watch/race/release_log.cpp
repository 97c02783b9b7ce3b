#include "watch/race/release_log.h"

#include <algorithm>

namespace opgate::simulator {

void ReleaseLog::add(const std::shared_ptr<const Release>& release) {
  std::vector<std::size_t>& positions = of_block_[release->view.block];
  if (!positions.empty() && releases_[positions.back()] == release) return;
  has_narrow_ = has_narrow_ || release->scope != Scope::device;
  positions.push_back(releases_.size());
  releases_.push_back(release);
}

bool ReleaseLog::knows(const AccessRecord& access, const Prefix& prefix,
                       const ClusterNumbers& clusters) const {
  if (has_all_of(access.block)) return true;
  const auto positions = of_block_.find(access.block);
  if (positions == of_block_.end()) return false;
  const std::vector<std::size_t>& all = positions->second;
  // The last one has most.
  for (auto next = std::lower_bound(all.begin(), all.end(), prefix.length); next != all.begin();) {
    const Release& release = *releases_[*--next];
    if (reaches(release, prefix, clusters) && release.view.knows(access.thread(), access.clock)) return true;
  }
  return false;
}

}  // namespace opgate::simulator
