#include "simulator/watch/release_log.h"

#include <algorithm>
#include <map>
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

void ReleaseLog::add(const std::shared_ptr<const Release>& release) {
  std::vector<std::size_t>& positions = of_block_[release->view.block];
  if (!positions.empty() && releases_[positions.back()] == release) return;
  for (const Acquired& acquired : release->acquired) {
    // Who acquires this release has acquired all that came before it in this log.
    if (acquired.log.get() == this) continue;
    const auto known = std::find_if(steps_.rbegin(), steps_.rend(), [&](const Step& step) {
      return step.acquired.log == acquired.log && step.acquired.scope == acquired.scope;
    });
    if (known == steps_.rend() || known->acquired.length < acquired.length)
      steps_.push_back({releases_.size(), acquired});
  }
  positions.push_back(releases_.size());
  releases_.push_back(release);
}

bool ReleaseLog::knows(const std::vector<Acquired>& acquired, std::uint32_t reader_block, std::uint32_t block,
                       std::uint32_t thread, std::uint32_t clock) {
  // This is the answer for most accesses of the launches before, which a thread has waited for.
  for (const Acquired& one : acquired) {
    if (one.log->has_all_of(block)) return true;
  }
  std::map<const ReleaseLog*, std::size_t> seen;
  std::vector<std::pair<const ReleaseLog*, std::size_t>> to_see;
  const auto add = [&](const Acquired& one) {
    if (one.scope == Scope::block && block != reader_block) return;
    std::size_t& length = seen[one.log.get()];
    if (length >= one.length) return;
    length = one.length;
    to_see.emplace_back(one.log.get(), one.length);
  };
  for (const Acquired& one : acquired) add(one);
  while (!to_see.empty()) {
    const auto [log, length] = to_see.back();
    to_see.pop_back();
    if (log->has_all_of(block)) return true;
    const auto positions = log->of_block_.find(block);
    if (positions != log->of_block_.end()) {
      const std::vector<std::size_t>& all = positions->second;
      // The last one has most.
      for (auto next = std::lower_bound(all.begin(), all.end(), length); next != all.begin();) {
        const Release& release = *log->releases_[*--next];
        if (release.scope == Scope::block && block != reader_block) continue;
        if (release.view.knows(thread, clock)) return true;
      }
    }
    for (const Step& step : log->steps_) {
      if (step.position < length) add(step.acquired);
    }
  }
  return false;
}

}  // namespace opgate::simulator
