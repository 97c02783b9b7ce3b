// The tool `race`: two accesses to the same bytes by different threads, of which at least one writes, and
// which no barrier, fence or atomic access orders. That warps run in lock step on some devices orders
// nothing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "watch/race/clocks.h"
#include "watch/race/seen_writes.h"
#include "watch/race/shadow.h"
#include "watch/watched_access.h"

namespace opgate::simulator {

/// The places of one memory through which threads synchronise, by their addresses.
using ReleaseLogs = std::unordered_map<std::uint64_t, std::shared_ptr<ReleaseLog>>;

/// What is known of one block.
struct BlockRaces {
  BlockClocks clocks;
  Shadow shared;
  ReleaseLogs shared_logs;
  std::vector<SeenWrites> seen;  ///< by each thread since all have met; empty if no thread has seen any
  SeenWrites seen_by_all;        ///< before

  void start(std::uint32_t block, std::size_t threads, const ClusterNumbers& clusters,
             Acquisitions& acquisitions) {
    clocks.start(block, threads, clusters, acquisitions);
    shared_logs.clear();
    seen.clear();
    seen_by_all = {};
  }

  /// All threads that have not exited have come to a barrier.
  void meet_all() {
    clocks.meet_all();
    for (const SeenWrites& of_thread : seen) seen_by_all.add(of_thread);
    seen.clear();
  }

  bool has_seen(std::uint32_t thread, std::uint64_t address, unsigned bytes,
                const AccessRecord& write) const {
    return (!seen.empty() && seen[thread].has(address, bytes, write)) ||
           seen_by_all.has(address, bytes, write);
  }
};

class RaceDetector {
 public:
  /// Two accesses that race: the one that is looked at and an earlier one.
  struct Race {
    AccessRecord before;
    bool before_wrote = false;
  };

  /// A launch begins, whose blocks are numbered from `first` on. What blocks up to `settled` did comes before
  /// all that it does.
  /// Blocks of a cluster have numbers one behind the other.
  void begin(std::uint32_t first, std::uint32_t settled, std::uint32_t blocks_of_cluster) {
    settled_ = settled;
    clusters_ = {first, blocks_of_cluster};
  }
  const ClusterNumbers& clusters() const { return clusters_; }
  Acquisitions& acquisitions() { return acquisitions_; }

  /// Remembers that the first instruction of a block has written so many bytes.
  void note_written(std::uint64_t begin, std::size_t bytes, std::uint32_t block);

  /// Looks at an access and remembers it. `report` is called with each race. `owner`: the block to which the
  /// memory belongs, if it is shared.
  template <class Report>
  void access(BlockRaces& block, BlockRaces& owner, const WatchedAccess& access, Report&& report) {
    look_at(block, owner, access, report);
    const bool shared = access.space == Space::shared;
    if (access.annotation->is_strong) synchronise(block, access, shared ? owner.shared_logs : logs_);
  }
  /// The same, for memory of its own block.
  template <class Report>
  void access(BlockRaces& block, const WatchedAccess& access, Report&& report) {
    this->access(block, block, access, report);
  }

  /// The same, for an access by which its thread learns nothing.
  template <class Report>
  void look_at(BlockRaces& block, BlockRaces& owner, const WatchedAccess& access, Report&& report) {
    const Annotation& how = *access.annotation;
    const bool shared = access.space == Space::shared;
    const AccessRecord record = record_of(block, access);
    const bool writes = how.kind != Annotation::Kind::load;
    const Shadow::Part part = (shared ? owner.shared : global_).at(access.address, how.bytes);
    for (unsigned i = 0; i < part.count; ++i) {
      Granule& granule = part.first[i];
      if (races(block, record, granule.write, shared) && !has_seen(block, access, granule.write))
        report(Race{granule.write, true});
      if (!writes) {
        if (how.is_strong && granule.write.is_strong()) see(block, access, granule.write);
        note_read(block, granule, record, shared);
        continue;
      }
      for (const AccessRecord& read : granule.reads) {
        if (races(block, record, read, shared)) report(Race{read, false});
      }
      note_write(granule, record);
    }
  }

  /// Forgets earlier accesses to global memory, which was allocated again.
  void forget(std::uint64_t begin, std::size_t bytes) { global_.forget(begin, bytes); }

  /// Looks at what a copy writes, which may have done so at any time since it has begun, and remembers it as
  /// an access at this time of the block. Accesses of its own thread race with it, too.
  template <class Report>
  void finish_copy(BlockRaces& block, const WatchedAccess& access, const Release& begin, std::uint32_t clock,
                   Report&& report) {
    const bool shared = access.space == Space::shared;
    AccessRecord record = record_of(block, access);
    record.clock = clock;
    const Shadow::Part part = (shared ? block.shared : global_).at(access.address, access.annotation->bytes);
    for (unsigned i = 0; i < part.count; ++i) {
      Granule& granule = part.first[i];
      if (races_with_copy(record, granule.write, begin, shared)) report(Race{granule.write, true});
      for (const AccessRecord& read : granule.reads) {
        if (races_with_copy(record, read, begin, shared)) report(Race{read, false});
      }
      note_write(granule, record);
    }
  }

  /// `visit` is called with the last write of each part of what is accessed.
  template <class Visit>
  void for_each_write(BlockRaces& block, const WatchedAccess& access, Visit&& visit) {
    const bool shared = access.space == Space::shared;
    const Shadow::Part part = (shared ? block.shared : global_).at(access.address, access.annotation->bytes);
    for (unsigned i = 0; i < part.count; ++i) visit(part.first[i].write);
  }

  /// Looks at what a copy has read, at any time since it has begun.
  template <class Report>
  void finish_reading(BlockRaces& block, const WatchedAccess& access, const Release& begin, Report&& report) {
    const bool shared = access.space == Space::shared;
    const AccessRecord record = record_of(block, access);
    const Shadow::Part part = (shared ? block.shared : global_).at(access.address, access.annotation->bytes);
    for (unsigned i = 0; i < part.count; ++i) {
      const AccessRecord& write = part.first[i].write;
      if (races_with_copy(record, write, begin, shared)) report(Race{write, true});
    }
  }

 private:
  static AccessRecord record_of(const BlockRaces& block, const WatchedAccess& access) {
    const std::uint32_t who_and_how = access.annotation->how | access.thread;
    return {block.clocks.block(), block.clocks.clock(access.thread), who_and_how};
  }

  bool are_of_one_cluster(const AccessRecord& a, const AccessRecord& b) const {
    return clusters_.are_of_one_cluster(a.block, b.block);
  }

  void see(BlockRaces& block, const WatchedAccess& access, const AccessRecord& write) const;
  static bool has_seen(const BlockRaces& block, const WatchedAccess& access, const AccessRecord& write) {
    return write.is_strong() &&
           block.has_seen(access.thread, access.address, access.annotation->bytes, write);
  }

  bool races(const BlockRaces& block, const AccessRecord& now, const AccessRecord& before,
             bool shared) const {
    if (before.block <= settled_) return false;
    if (before.block == now.block) {
      if (before.clock < block.clocks.base() || before.is_of_thread_of(now)) return false;
    } else if (shared && !are_of_one_cluster(now, before)) {
      return false;  // left behind by a block that had this shared memory before
    }
    return !are_both_strong(now, before, shared) && !block.clocks.knows(now.thread(), before);
  }

  bool races_with_copy(const AccessRecord& copy, const AccessRecord& other, const Release& begin,
                       bool shared) {
    if (other.block <= settled_ || (shared && !are_of_one_cluster(copy, other))) return false;
    if (are_both_strong(copy, other, shared)) return false;
    if (other.block == copy.block && begin.view.knows(other.thread(), other.clock)) return false;
    return !acquisitions_.know(begin.acquired, clusters_, other);
  }

  // Whether both are strong, and each one for the thread of the other. Warps that exchange values through
  // volatile shared memory rely on lock step, which devices no longer promise. Between warps, the same
  // accesses are a way to synchronise, and so is a load that waits.
  bool are_both_strong(const AccessRecord& now, const AccessRecord& before, bool shared) const {
    if (!now.is_strong() || !before.is_strong()) return false;
    const AccessRecord::Strength narrower = std::min(now.strength(), before.strength());
    if (now.block == before.block)
      return !shared || narrower != AccessRecord::is_volatile || !now.is_of_warp_of(before);
    return narrower == AccessRecord::in_cluster ? are_of_one_cluster(now, before)
                                                : narrower != AccessRecord::in_block;
  }

  // Whoever races with what came before a write races with the write too, unless both are strong.
  static void note_write(Granule& granule, const AccessRecord& write) {
    const AccessRecord& before = granule.write;
    if (!write.is_strong()) {
      granule = {write, {}};
    } else if (before.is_strong() || before.block != write.block || !before.is_of_thread_of(write) ||
               before.clock != write.clock) {
      granule.write = write;
    }
  }
  void note_read(const BlockRaces& block, Granule& granule, const AccessRecord& read, bool shared) const {
    // What comes before this read need not be remembered: a writer that is ordered after this one is ordered
    // after that one too.
    const std::uint32_t base = block.clocks.base();
    const std::uint32_t warp_base = block.clocks.warp_base(read.thread());
    const auto is_covered = [&](const AccessRecord& earlier) {
      if (earlier.block <= settled_) return true;
      if (earlier.block != read.block)
        return (shared && !are_of_one_cluster(earlier, read)) ||
               (earlier.block < clusters_.first && block.clocks.knows(read.thread(), earlier));
      if (earlier.clock < base) return true;
      if (!earlier.is_of_warp_of(read)) return false;
      return earlier.clock < warp_base ||
             (earlier.is_of_thread_of(read) && (earlier.is_strong() || !read.is_strong()));
    };
    auto& [first, second] = granule.reads;
    if (is_covered(first)) {
      first = read;
    } else if (is_covered(second)) {
      second = read;
    } else {
      (are_near(first, read) && !are_near(second, read) ? first : second) = read;
    }
  }

  // Reads of two blocks or warps are kept where there are such, because a writer is more likely to be ordered
  // after those of its own.
  static bool are_near(const AccessRecord& a, const AccessRecord& b) {
    return a.block == b.block && a.is_of_warp_of(b);
  }

  static void synchronise(BlockRaces& block, const WatchedAccess& access, ReleaseLogs& logs);
  static void release(BlockRaces& block, const WatchedAccess& access, ReleaseLogs& logs);

  ClusterNumbers clusters_;
  std::uint32_t settled_ = 0;  ///< no block has the number 0, which stands for no access
  Shadow global_;
  ReleaseLogs logs_;
  Acquisitions acquisitions_;
};

}  // namespace opgate::simulator
