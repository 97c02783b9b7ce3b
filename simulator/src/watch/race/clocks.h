// What each thread of a block knows of the others: which of their accesses come before its own.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "watch/race/acquisitions.h"
#include "watch/race/release_log.h"
#include "watch/race/shadow.h"

namespace opgate::simulator {

/// The time of a block goes on with each synchronisation. A barrier of the whole block moves one base, in
/// place of the clocks of each thread, and one of a whole warp the base of the warp.
class BlockClocks {
 public:
  /// `acquisitions` must exist for as long as the block runs.
  void start(std::uint32_t block, std::size_t threads, const ClusterNumbers& clusters,
             Acquisitions& acquisitions);

  std::uint32_t block() const { return block_; }
  std::size_t threads() const { return clocks_.size(); }
  std::uint32_t base() const { return base_; }
  std::uint32_t warp_base(std::uint32_t thread) const { return warp_bases_[thread / 32]; }
  std::uint32_t clock(std::uint32_t thread) const { return clocks_[thread]; }

  /// Whether the access comes before what the thread does now.
  bool knows(std::uint32_t thread, const AccessRecord& access) const;

  /// All threads that have not exited have come to a barrier.
  void meet_all();
  /// The threads of a warp that have not exited.
  void meet_in_warp(std::uint32_t warp, std::span<const std::uint32_t> threads);
  /// Some threads of the block; the effects of `arrive` for the barrier become known to them.
  void meet(std::span<const std::uint32_t> threads, unsigned barrier);
  void arrive(std::uint32_t thread, unsigned barrier);

  /// What the thread knows now. What it does from now on does not belong to it.
  std::shared_ptr<const Release> snapshot(std::uint32_t thread, Scope scope = Scope::device);
  /// A time of the block after all that has been done so far.
  std::uint32_t tick() { return ++time_; }
  /// What several threads knew, as if one had known it all.
  std::shared_ptr<const Release> joined(std::span<const std::shared_ptr<const Release>> releases) const;
  /// The thread now knows that, too.
  void learn(std::uint32_t thread, const Release& release);

  /// A fence makes ready what later writes of the thread release.
  void release_fence(std::uint32_t thread, Scope scope);
  /// A fence lets take effect what the thread has read before.
  void acquire_fence(std::uint32_t thread, Scope scope);
  /// What fences have made ready for later writes of the thread.
  bool has_made_ready(std::uint32_t thread) const {
    if (is_plain_) return false;
    const auto& released = threads_[thread].released;
    return released_ != nullptr || released[0] != nullptr || released[1] != nullptr || released[2] != nullptr;
  }
  template <class Visit>
  void for_each_made_ready(std::uint32_t thread, Visit&& visit) const {
    if (released_ != nullptr) visit(released_);
    for (const std::shared_ptr<const Release>& released : threads_[thread].released) {
      if (released != nullptr) visit(released);
    }
  }
  /// A read of a place that has a log. It takes effect with the next fence or barrier, or if the place is
  /// acquired.
  void read(std::uint32_t thread, std::uint64_t place, const std::shared_ptr<const ReleaseLog>& log);
  /// An access acquires the place, which it has read.
  void acquire(std::uint32_t thread, std::uint64_t place, Scope scope);
  /// A log of which so much takes effect at once.
  void acquire_now(std::uint32_t thread, const std::shared_ptr<const ReleaseLog>& log, std::size_t length);

 private:
  struct PendingRead {
    std::shared_ptr<const ReleaseLog> log;
    std::size_t length = 0;
  };
  /// What a thread knows beyond clocks.
  struct Knowledge {
    std::shared_ptr<const Clocks> others;
    const Acquired* acquired = nullptr;  ///< beyond what all threads have; null if it is no more
    /// What was read, but not yet acquired, by its place.
    std::unordered_multimap<std::uint64_t, PendingRead> pending;
    std::array<std::shared_ptr<const Release>, 3> released{};  ///< by the last fence of each scope
  };
  struct Arrived {
    unsigned barrier = 0;
    View view;
    const Acquired* acquired = nullptr;
  };

  const Acquired* acquired_by(std::uint32_t thread) const {
    const Acquired* const own = threads_[thread].acquired;
    return own != nullptr ? own : acquired_;
  }
  void acquire(std::uint32_t thread, const PendingRead& read, Scope scope);
  View view_of(std::uint32_t thread) const;
  void add_view(Clocks& clocks, const View& view) const;
  std::shared_ptr<const Release> combined(std::span<const std::uint32_t> threads) const;
  void settle_pending(std::uint32_t thread);
  void share(std::span<const std::uint32_t> threads);

  static constexpr std::size_t kDevice = static_cast<std::size_t>(Scope::device);

  std::uint32_t block_ = 0;
  ClusterNumbers clusters_;
  std::uint32_t time_ = 1;
  std::uint32_t base_ = 1;
  std::vector<std::uint32_t> warp_bases_;
  std::vector<std::uint32_t> clocks_;  ///< of the threads
  std::vector<Knowledge> threads_;
  std::vector<Arrived> arrived_;
  Acquisitions* acquisitions_ = nullptr;
  const Acquired* acquired_ = nullptr;       ///< by all threads; may be null
  std::shared_ptr<const Release> released_;  ///< by fences of all threads that came before a barrier
  bool has_others_ = false;                  ///< whether any thread knows something of single threads
  bool has_fences_ = false;                  ///< whether any thread has executed a fence
  bool has_acquired_ = false;                ///< whether any thread has read a place with a log
  bool is_plain_ = true;                     ///< whether no thread has ever known more than clocks
};

}  // namespace opgate::simulator
