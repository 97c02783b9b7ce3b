#include "simulator/watch/race.h"

namespace opgate::simulator {

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
