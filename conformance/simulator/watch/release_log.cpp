#include "simulator/watch/release_log.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace opgate::simulator {

void merge(std::vector<Acquired>& into, const std::vector<Acquired>& from) {
  for (const Acquired& one : from) {
    const auto known = std::find_if(into.begin(), into.end(), [&](const Acquired& other) {
      return other.log == one.log && other.scope == one.scope;
    });
    if (known == into.end()) {
      into.push_back(one);
    } else {
      known->length = std::max(known->length, one.length);
    }
  }
}

// Whether an earlier step leads as far for everybody.
bool ReleaseLog::has_step(const Release& release, const Acquired& acquired) const {
  const bool is_for_all_threads = is_for_all(acquired) && release.scope == Scope::device;
  const auto known = std::find_if(steps_.rbegin(), steps_.rend(), [&](const Step& step) {
    const Release& other = *releases_[step.position];
    return step.acquired.log == acquired.log && step.acquired.scope == acquired.scope &&
           other.scope == release.scope && (is_for_all_threads || other.view.block == release.view.block);
  });
  return known != steps_.rend() && known->acquired.length >= acquired.length;
}

void ReleaseLog::add(const std::shared_ptr<const Release>& release) {
  std::vector<std::size_t>& positions = of_block_[release->view.block];
  if (!positions.empty() && releases_[positions.back()] == release) return;
  has_narrow_ = has_narrow_ || release->scope != Scope::device;
  const std::size_t position = releases_.size();
  positions.push_back(position);
  releases_.push_back(release);
  for (const Acquired& acquired : release->acquired) {
    if (acquired.log.get() != this) {
      if (!has_step(*release, acquired)) steps_.push_back({position, acquired});
    } else if (!is_for_all(acquired)) {
      steps_.push_back({position, {nullptr, acquired.length, acquired.scope}});
    }
    // Otherwise, who acquires this release has acquired all that came before it in this log.
  }
}

bool ReleaseLog::Visit::reaches(const Release& release, const ClusterNumbers& clusters) const {
  return clusters.reaches(std::min(release.scope, scope), release.view.block, block);
}

bool ReleaseLog::Visit::finds(const AccessRecord& access, const ClusterNumbers& clusters) const {
  if (log->has_all_of(access.block)) return true;
  const auto positions = log->of_block_.find(access.block);
  if (positions == log->of_block_.end()) return false;
  const std::vector<std::size_t>& all = positions->second;
  // The last one has most.
  for (auto next = std::lower_bound(all.begin(), all.end(), length); next != all.begin();) {
    const Release& release = *log->releases_[*--next];
    if (reaches(release, clusters) && release.view.knows(access.thread(), access.clock)) return true;
  }
  return false;
}

bool ReleaseLog::knows(const std::vector<Acquired>& acquired, std::uint32_t reader_block,
                       const ClusterNumbers& clusters, const AccessRecord& access) {
  // Most accesses were released where the thread itself has acquired.
  for (const Acquired& one : acquired) {
    if (Visit{one.log.get(), one.length, one.scope, reader_block}.finds(access, clusters)) return true;
  }
  std::map<std::tuple<const ReleaseLog*, Scope, std::uint32_t>, std::size_t> seen;
  std::vector<Visit> to_see;
  const auto add = [&](const Visit& visit) {
    const bool is_for_all = visit.scope == Scope::device && !visit.log->has_narrow_;
    std::size_t& length = seen[{visit.log, visit.scope, is_for_all ? 0 : visit.block}];
    if (length >= visit.length) return;
    length = visit.length;
    to_see.push_back(visit);
  };
  for (const Acquired& one : acquired) add({one.log.get(), one.length, one.scope, reader_block});
  while (!to_see.empty()) {
    const Visit visit = to_see.back();
    to_see.pop_back();
    if (visit.finds(access, clusters)) return true;
    for (const Step& step : visit.log->steps_) {
      const Release& release = *visit.log->releases_[step.position];
      if (step.position >= visit.length || !visit.reaches(release, clusters)) continue;
      const ReleaseLog* const next = step.acquired.log == nullptr ? visit.log : step.acquired.log.get();
      add({next, step.acquired.length, step.acquired.scope, release.view.block});
    }
  }
  return false;
}

}  // namespace opgate::simulator
