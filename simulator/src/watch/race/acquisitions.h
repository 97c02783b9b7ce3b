// What threads have acquired of the releases of others. Threads that have met share it, and each acquiring
// operation adds one part to it, so that memory grows with the operations and not with what is known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "watch/race/cluster_numbers.h"
#include "watch/race/release_log.h"

namespace opgate::simulator {

/// One acquiring operation, or the union of what two threads have acquired, with all that came before.
struct Acquired {
  std::shared_ptr<const ReleaseLog> log;  ///< null for a union
  ReleaseLog::Prefix prefix = {};
  const Acquired* before = nullptr;
  const Acquired* also = nullptr;
  mutable std::uint64_t last_search = 0;  ///< that has come here
};

/// Owns what the threads of a launch, and of those that still run when it begins, have acquired.
class Acquisitions {
 public:
  /// All that `before` has, and this. Both may be null.
  const Acquired* with(const Acquired* before, const std::shared_ptr<const ReleaseLog>& log,
                       const ReleaseLog::Prefix& prefix);
  const Acquired* joined(const Acquired* a, const Acquired* b);
  const Acquired* joined(std::vector<const Acquired*> all);

  /// A thread of the block has made a release at this time of its block. Later ones are behind it.
  void note_release(std::uint32_t block, std::uint32_t time) { last_release_[block] = time; }

  /// Whether an access is known to a thread that has acquired so much, also by way of what those knew whose
  /// releases it has acquired. At each step the scopes of release and acquire must include each other's
  /// threads; those of one step need not include those of another.
  bool know(const Acquired* acquired, const ClusterNumbers& clusters, const AccessRecord& access);

  /// How many operations and unions are remembered.
  std::size_t size() const { return all_.size(); }

 private:
  std::deque<Acquired> all_;
  std::unordered_map<std::uint32_t, std::uint32_t> last_release_;  ///< of each block
  std::uint64_t searches_ = 0;
};

}  // namespace opgate::simulator
