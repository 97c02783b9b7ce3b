// What each thread of a block knows of the others: which of their accesses come before its own.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "simulator/watch/release_log.h"
#include "simulator/watch/shadow.h"

namespace opgate::simulator {

/// The time of a block goes on with each synchronisation. A barrier of the whole block moves one base, in
/// place of the clocks of each thread, and one of a whole warp the base of the warp.
class BlockClocks {
 public:
  void start(std::uint32_t block, std::size_t threads);

  std::uint32_t block() const { return block_; }
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
  std::shared_ptr<const Release> snapshot(std::uint32_t thread);
  /// A time of the block after all that has been done so far.
  std::uint32_t tick() { return ++time_; }
  /// What several threads knew, as if one had known it all.
  std::shared_ptr<const Release> joined(std::span<const std::shared_ptr<const Release>> releases) const;
  /// The thread now knows that, too.
  void learn(std::uint32_t thread, const Release& release);

  void fence(std::uint32_t thread, Scope scope);
  /// What the thread has read before takes effect.
  void settle(std::uint32_t thread, Scope scope);
  /// A write that others may acquire: what fences of the thread have made ready.
  bool has_release(std::uint32_t thread) const {
    return released_ != nullptr || threads_[thread].released != nullptr ||
           threads_[thread].released_in_block != nullptr;
  }
  void release(std::uint32_t thread, ReleaseLog& log) const;
  /// A read of a place that has a log. It takes effect with the next fence or barrier.
  void acquire(std::uint32_t thread, const std::shared_ptr<const ReleaseLog>& log);
  /// A log of which so much takes effect at once.
  void acquire_now(std::uint32_t thread, const std::shared_ptr<const ReleaseLog>& log, std::size_t length);

 private:
  /// What a thread knows beyond clocks.
  struct Knowledge {
    std::shared_ptr<const Clocks> others;
    std::vector<Acquired> acquired;
    std::vector<Acquired> pending;  ///< read, but not yet acquired
    std::shared_ptr<const Release> released;
    std::shared_ptr<const Release> released_in_block;
  };
  struct Arrived {
    unsigned barrier = 0;
    View view;
    std::vector<Acquired> acquired;
  };

  View view_of(std::uint32_t thread) const;
  void add_view(Clocks& clocks, const View& view) const;
  std::shared_ptr<const Release> combined(std::span<const std::uint32_t> threads) const;
  void settle_pending(Knowledge& thread);
  void share(std::span<const std::uint32_t> threads);

  std::uint32_t block_ = 0;
  std::uint32_t time_ = 1;
  std::uint32_t base_ = 1;
  std::vector<std::uint32_t> warp_bases_;
  std::vector<std::uint32_t> clocks_;  ///< of the threads
  std::vector<Knowledge> threads_;
  std::vector<Arrived> arrived_;
  std::vector<Acquired> acquired_;           ///< by all threads
  std::shared_ptr<const Release> released_;  ///< by fences of all threads that came before a barrier
  bool has_others_ = false;                  ///< whether any thread knows something of single threads
  bool has_fences_ = false;                  ///< whether any thread has executed a fence
  bool has_acquired_ = false;                ///< whether any thread has read a place with a log
  bool is_plain_ = true;                     ///< whether no thread has ever known more than clocks
};

}  // namespace opgate::simulator
