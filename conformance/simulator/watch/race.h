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
      granule = {record, {}};
    }
    if (how.is_strong) synchronise(block, access, shared ? block.shared_logs : logs_);
  }

 private:
  static AccessRecord record_of(const BlockRaces& block, const WatchedAccess& access);

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

  static bool are_both_strong(const AccessRecord& now, const AccessRecord& before, bool shared);
  static void note_read(const BlockRaces& block, Granule& granule, const AccessRecord& read, bool shared);
  static void synchronise(BlockRaces& block, const WatchedAccess& access, ReleaseLogs& logs);
  static void release(BlockRaces& block, const WatchedAccess& access, ReleaseLogs& logs);

  Shadow global_;
  ReleaseLogs logs_;
};

}  // namespace opgate::simulator
