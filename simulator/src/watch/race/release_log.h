// What threads have made known to others by writing one place in memory: releases, which later reads of the
// place acquire.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "watch/race/cluster_numbers.h"

namespace opgate::simulator {

/// For each thread of a block: what it did before this time of its block is known.
using Clocks = std::vector<std::uint32_t>;

/// What a thread knows of its own block at one moment: which accesses come before it.
struct View {
  std::uint32_t block = 0;
  std::uint32_t base = 0;  ///< all that any thread did before this time
  std::uint32_t warp = 0;
  std::uint32_t warp_base = 0;  ///< the same of the threads of this warp
  std::uint32_t thread = 0;
  std::uint32_t own = 0;                 ///< of this thread
  std::shared_ptr<const Clocks> others;  ///< of single threads; may be null

  bool knows(std::uint32_t of_thread, std::uint32_t clock) const {
    return clock < base || (of_thread / 32 == warp && clock < warp_base) ||
           (of_thread == thread && clock < own) || (others != nullptr && clock < (*others)[of_thread]);
  }
};

struct Acquired;

/// What a fence makes ready to be released, or an operation releases: all that the thread knew.
struct Release {
  View view;
  const Acquired* acquired = nullptr;  ///< may be null; see `Acquisitions`
  Scope scope = Scope::device;
};

class ReleaseLog {
 public:
  ReleaseLog() = default;
  /// Makes known all that the blocks of these numbers have done. `end` is behind the last one.
  ReleaseLog(std::uint32_t first_block, std::uint32_t end) : first_block_(first_block), end_(end) {}

  void add(const std::shared_ptr<const Release>& release);
  /// For the access itself, and not of a fence before it. A later strong write by the same thread carries on
  /// with it.
  void add_of_access(const std::shared_ptr<const Release>& release) {
    add(release);
    of_last_access_ = release;
  }
  /// The last one of these; may be null.
  const std::shared_ptr<const Release>& of_last_access() const { return of_last_access_; }

  std::size_t length() const { return releases_.size(); }

  /// The first releases of a log, for a thread of the block that has acquired them with this scope.
  struct Prefix {
    std::size_t length = 0;
    Scope scope = Scope::device;
    std::uint32_t block = 0;
  };

  /// Whether it does not matter in which block somebody has acquired this.
  bool is_for_all(const Prefix& prefix) const { return prefix.scope == Scope::device && !has_narrow_; }

  /// Whether one of the releases knows the access by itself.
  bool knows(const AccessRecord& access, const Prefix& prefix, const ClusterNumbers& clusters) const;

  /// The releases from a position on that reach who has acquired them.
  template <class Visit>
  void for_each_reached(std::size_t begin, const Prefix& prefix, const ClusterNumbers& clusters,
                        Visit&& visit) const {
    // A log of whole blocks has no releases.
    const std::size_t end = std::min(prefix.length, releases_.size());
    for (std::size_t i = begin; i < end; ++i) {
      if (reaches(*releases_[i], prefix, clusters)) visit(*releases_[i]);
    }
  }

 private:
  static bool reaches(const Release& release, const Prefix& prefix, const ClusterNumbers& clusters) {
    return clusters.reaches(std::min(release.scope, prefix.scope), release.view.block, prefix.block);
  }
  bool has_all_of(std::uint32_t block) const { return first_block_ <= block && block < end_; }

  std::uint32_t first_block_ = 0;
  std::uint32_t end_ = 0;
  std::vector<std::shared_ptr<const Release>> releases_;
  std::unordered_map<std::uint32_t, std::vector<std::size_t>> of_block_;  ///< positions
  std::shared_ptr<const Release> of_last_access_;
  bool has_narrow_ = false;  ///< a release that does not reach all threads of the device
};

}  // namespace opgate::simulator
