#include "watch/race/acquisitions.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace opgate::simulator {
namespace acquisitions {

// How far a thread that polls looks back for what it has acquired already: the threads of a warp that have
// met after the last poll, and some more.
constexpr int kLatest = 64;

bool has(const Acquired& acquired, const ReleaseLog* log, const ReleaseLog::Prefix& prefix) {
  return acquired.log.get() == log && acquired.prefix.scope == prefix.scope &&
         acquired.prefix.block == prefix.block && acquired.prefix.length >= prefix.length;
}

}  // namespace acquisitions

const Acquired* Acquisitions::with(const Acquired* before, const std::shared_ptr<const ReleaseLog>& log,
                                   const ReleaseLog::Prefix& prefix) {
  const Acquired* latest = before;
  for (int i = 0; latest != nullptr && i < acquisitions::kLatest; ++i, latest = latest->before) {
    if (acquisitions::has(*latest, log.get(), prefix) ||
        (latest->also != nullptr && acquisitions::has(*latest->also, log.get(), prefix)))
      return before;
  }
  return &all_.emplace_back(Acquired{log, prefix, before});
}

const Acquired* Acquisitions::joined(const Acquired* a, const Acquired* b) {
  if (a == nullptr || a == b) return b;
  if (b == nullptr || a->before == b || a->also == b) return a;
  if (b->before == a || b->also == a) return b;
  return &all_.emplace_back(Acquired{nullptr, {}, a, b});
}

const Acquired* Acquisitions::joined(std::vector<const Acquired*> all) {
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  const Acquired* together = nullptr;
  for (const Acquired* one : all) together = joined(together, one);
  return together;
}

bool Acquisitions::know(const Acquired* acquired, const ClusterNumbers& clusters,
                        const AccessRecord& access) {
  if (acquired == nullptr) return false;
  // Those who wait for a launch before this one know its accesses without a release.
  if (access.block >= clusters.first) {
    const auto last = last_release_.find(access.block);
    if (last == last_release_.end() || access.clock >= last->second) return false;
  }
  ++searches_;
  std::vector<const Acquired*> to_see;
  const auto add = [&](const Acquired* one) {
    if (one == nullptr || one->last_search == searches_) return;
    one->last_search = searches_;
    to_see.push_back(one);
  };
  std::map<std::tuple<const ReleaseLog*, Scope, std::uint32_t>, std::size_t> seen;  // so much of each log
  std::vector<const Acquired*> to_follow;
  add(acquired);
  while (!to_see.empty() || !to_follow.empty()) {
    // Most accesses were released where the thread itself has acquired.
    if (!to_see.empty()) {
      const Acquired& one = *to_see.back();
      to_see.pop_back();
      add(one.before);
      add(one.also);
      if (one.log == nullptr) continue;
      if (one.log->knows(access, one.prefix, clusters)) return true;
      to_follow.push_back(&one);
      continue;
    }
    const Acquired& one = *to_follow.back();
    to_follow.pop_back();
    const std::uint32_t block = one.log->is_for_all(one.prefix) ? 0 : one.prefix.block;
    std::size_t& length = seen[{one.log.get(), one.prefix.scope, block}];
    one.log->for_each_reached(length, one.prefix, clusters,
                              [&](const Release& release) { add(release.acquired); });
    length = std::max(length, one.prefix.length);
  }
  return false;
}

}  // namespace opgate::simulator
