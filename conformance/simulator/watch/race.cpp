#include "simulator/watch/race.h"

namespace opgate::simulator {

AccessRecord RaceDetector::record_of(const BlockRaces& block, const WatchedAccess& access) {
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

// Warps that exchange values through volatile shared memory rely on lock step, which devices no longer
// promise. Between warps, the same accesses are a way to synchronise.
bool RaceDetector::are_both_strong(const AccessRecord& now, const AccessRecord& before, bool shared) {
  if (now.is_strong == 0 || before.is_strong == 0) return false;
  if (now.block != before.block) return now.in_block == 0 && before.in_block == 0;
  const bool in_warp = now.thread / 32 == before.thread / 32;
  return !shared || !in_warp || (now.is_volatile == 0 && before.is_volatile == 0);
}

void RaceDetector::note_read(const BlockRaces& block, Granule& granule, const AccessRecord& read,
                             bool shared) {
  // What comes before this read need not be remembered: a writer that is ordered after this one is ordered
  // after that one too.
  const auto is_covered = [&](const AccessRecord& earlier) {
    if (earlier.block != read.block) return shared || earlier.block == 0;
    return earlier.thread == read.thread || earlier.clock < block.clocks.base() ||
           (earlier.thread / 32 == read.thread / 32 && earlier.clock < block.clocks.warp_base(read.thread));
  };
  auto& [first, second] = granule.reads;
  if (is_covered(first)) {
    first = read;
    return;
  }
  if (is_covered(second)) {
    second = read;
    return;
  }
  // Reads of two blocks or warps are kept where there are such, because a writer is more likely to be ordered
  // after those of its own.
  const auto are_near = [](const AccessRecord& a, const AccessRecord& b) {
    return a.block == b.block && a.thread / 32 == b.thread / 32;
  };
  (are_near(first, read) && !are_near(second, read) ? first : second) = read;
}

void RaceDetector::synchronise(BlockRaces& block, const WatchedAccess& access, ReleaseLogs& logs) {
  using Kind = Annotation::Kind;
  const Annotation& how = *access.annotation;
  BlockClocks& clocks = block.clocks;
  if (how.releases) clocks.fence(access.thread, how.scope);
  const bool writes = how.kind != Kind::load;
  if (how.kind == Kind::load || how.kind == Kind::atomic) {
    const auto found = logs.find(access.address);
    if (found != logs.end()) clocks.acquire(access.thread, found->second);
  }
  if (writes) release(block, access, logs);
  if (how.acquires) clocks.settle(access.thread, how.scope);
}

void RaceDetector::release(BlockRaces& block, const WatchedAccess& access, ReleaseLogs& logs) {
  // Atomic accesses carry on what was released before; a store begins anew.
  if (access.annotation->kind == Annotation::Kind::store) logs.erase(access.address);
  const BlockClocks& clocks = block.clocks;
  if (!clocks.has_release(access.thread)) return;
  std::shared_ptr<ReleaseLog>& log = logs[access.address];
  if (log == nullptr) log = std::make_shared<ReleaseLog>();
  clocks.release(access.thread, *log);
}

}  // namespace opgate::simulator
