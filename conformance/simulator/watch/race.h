// The tool `race`: two accesses to the same bytes by different threads, of which at least one writes, and
// which no barrier, fence or atomic access orders. That warps run in lock step on some devices orders nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>

#include "simulator/watch/annotations.h"
#include "simulator/watch/clocks.h"
#include "simulator/watch/shadow.h"

namespace opgate::simulator {

/// One access of a thread, as the tools see it.
struct WatchedAccess {
  const Annotation* annotation = nullptr;
  Space space = Space::global;  ///< no longer generic
  std::uint64_t address = 0;    ///< in the space
  std::uint32_t thread = 0;     ///< in the block
  std::uint32_t site = 0;       ///< numbers the instructions of the program
};

/// The places of one memory through which threads synchronise, by their addresses.
using ReleaseLogs = std::unordered_map<std::uint64_t, std::shared_ptr<ReleaseLog>>;

/// What is known of one block.
struct BlockRaces {
  BlockClocks clocks;
  Shadow shared;
  ReleaseLogs shared_logs;

  void start(std::uint32_t block, std::size_t threads) {
    clocks.start(block, threads);
    shared_logs.clear();
  }
};

class RaceDetector {
 public:
  /// Two accesses that race: the one that is looked at and an earlier one.
  struct Race {
    AccessRecord before;
    bool before_wrote = false;
  };

  /// Looks at an access and remembers it. `report` is called with each race.
  template <class Report>
  void access(BlockRaces& block, const WatchedAccess& access, Report&& report) {
    look_at(block, access, report);
    const bool shared = access.space == Space::shared;
    if (access.annotation->is_strong) synchronise(block, access, shared ? block.shared_logs : logs_);
  }

  /// The same, for an access by which its thread learns nothing.
  template <class Report>
  void look_at(BlockRaces& block, const WatchedAccess& access, Report&& report) {
    const Annotation& how = *access.annotation;
    const bool shared = access.space == Space::shared;
    const AccessRecord record = record_of(block, access);
    const bool writes = how.kind != Annotation::Kind::load;
    const Shadow::Part part = (shared ? block.shared : global_).at(access.address, how.bytes);
    for (unsigned i = 0; i < part.count; ++i) {
      Granule& granule = part.first[i];
      if (races(block, record, granule.write, shared)) report(Race{granule.write, true});
      if (!writes) {
        note_read(block, granule, record, shared);
        continue;
      }
      for (const AccessRecord& read : granule.reads) {
        if (races(block, record, read, shared)) report(Race{read, false});
      }
      note_write(granule, record);
    }
  }

  /// Looks at what a copy writes, which may have done so at any time since it has begun, and remembers it as an access at
  /// this time of the block. Accesses of its own thread race with it, too.
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
    const Annotation& how = *access.annotation;
    AccessRecord record;
    record.block = block.clocks.block();
    record.clock = block.clocks.clock(access.thread);
    record.thread = access.thread & 0x3ff;
    record.site = access.site & 0x7ffff;
    record.is_strong = how.is_strong ? 1 : 0;
    record.is_volatile = how.is_volatile ? 1 : 0;
    record.in_block = how.scope == Scope::block ? 1 : 0;
    return record;
  }

  static bool races(const BlockRaces& block, const AccessRecord& now, const AccessRecord& before,
                    bool shared) {
    if (before.block == 0) return false;
    if (before.block == now.block) {
      if (before.thread == now.thread || before.clock < block.clocks.base()) return false;
    } else if (shared) {
      return false;  // left behind by a block that had this shared memory before
    }
    return !are_both_strong(now, before, shared) && !block.clocks.knows(now.thread, before);
  }

  static bool races_with_copy(const AccessRecord& copy, const AccessRecord& other, const Release& begin,
                              bool shared) {
    if (other.block == 0 || (shared && other.block != copy.block)) return false;
    if (other.block == copy.block && begin.view.knows(other.thread, other.clock)) return false;
    return !ReleaseLog::knows(begin.acquired, copy.block, other.block, other.thread, other.clock);
  }

  // Warps that exchange values through volatile shared memory rely on lock step, which devices no longer
  // promise. Between warps, the same accesses are a way to synchronise.
  static bool are_both_strong(const AccessRecord& now, const AccessRecord& before, bool shared) {
    if (now.is_strong == 0 || before.is_strong == 0) return false;
    if (now.block != before.block) return now.in_block == 0 && before.in_block == 0;
    const bool in_warp = now.thread / 32 == before.thread / 32;
    return !shared || !in_warp || (now.is_volatile == 0 && before.is_volatile == 0);
  }

  // Whoever races with what came before a write races with the write too, unless both are strong.
  static void note_write(Granule& granule, const AccessRecord& write) {
    const AccessRecord& before = granule.write;
    if (write.is_strong == 0) {
      granule = {write, {}};
    } else if (before.is_strong != 0 || before.block != write.block || before.thread != write.thread ||
               before.clock != write.clock) {
      granule.write = write;
    }
  }
  static void note_read(const BlockRaces& block, Granule& granule, const AccessRecord& read, bool shared) {
    // What comes before this read need not be remembered: a writer that is ordered after this one is ordered
    // after that one too.
    const auto is_covered = [&](const AccessRecord& earlier) {
      if (earlier.block != read.block) return shared || earlier.block == 0;
      if (earlier.thread == read.thread && earlier.is_strong >= read.is_strong) return true;
      return earlier.clock < block.clocks.base() ||
             (earlier.thread / 32 == read.thread / 32 && earlier.clock < block.clocks.warp_base(read.thread));
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
    return a.block == b.block && a.thread / 32 == b.thread / 32;
  }

  static void synchronise(BlockRaces& block, const WatchedAccess& access, ReleaseLogs& logs);
  static void release(BlockRaces& block, const WatchedAccess& access, ReleaseLogs& logs);

  Shadow global_;
  ReleaseLogs logs_;
};

}  // namespace opgate::simulator
