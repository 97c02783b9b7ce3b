#include "simulator/watch/race.h"

#include <algorithm>
#include <bit>

namespace opgate::simulator {

void RaceDetector::note_written(std::uint64_t begin, std::size_t bytes, std::uint32_t block) {
  constexpr std::uint64_t kMostOfOneAccess = 16;
  const AccessRecord record{block, 1, AccessRecord::who_and_how_of(0, 1, 0)};
  const std::uint64_t end = begin + bytes;
  while (begin < end) {
    const std::uint64_t aligned = begin == 0 ? kMostOfOneAccess : begin & (~begin + 1);
    const std::uint64_t piece = std::min({std::bit_floor(end - begin), aligned, kMostOfOneAccess});
    const Shadow::Part part = global_.at(begin, static_cast<unsigned>(piece));
    for (unsigned i = 0; i < part.count; ++i) part.first[i] = {record, {}};
    begin += piece;
  }
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
