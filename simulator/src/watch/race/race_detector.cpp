#include "watch/race/race_detector.h"

#include <algorithm>
#include <bit>

namespace opgate::simulator {

void RaceDetector::note_written(std::uint64_t begin, std::size_t bytes, std::uint32_t block) {
  constexpr std::uint64_t kMostOfOneAccess = 16;
  const AccessRecord record{block, 1, AccessRecord::who_and_how_of(0, 1, AccessRecord::weak)};
  const std::uint64_t end = begin + bytes;
  while (begin < end) {
    const std::uint64_t aligned = begin == 0 ? kMostOfOneAccess : begin & (~begin + 1);
    const std::uint64_t piece = std::min({std::bit_floor(end - begin), aligned, kMostOfOneAccess});
    const Shadow::Part part = global_.at(begin, static_cast<unsigned>(piece));
    for (unsigned i = 0; i < part.count; ++i) part.first[i] = {record, {}};
    begin += piece;
  }
}

void RaceDetector::see(BlockRaces& block, const WatchedAccess& access, const AccessRecord& write) const {
  const AccessRecord read = record_of(block, access);
  if (write.block == read.block && write.is_of_thread_of(read)) return;
  if (!are_both_strong(read, write, access.space == Space::shared)) return;
  if (block.seen.empty()) block.seen.resize(block.clocks.threads());
  block.seen[access.thread].add(access.address, access.annotation->bytes, write);
}

void RaceDetector::synchronise(BlockRaces& block, const WatchedAccess& access, ReleaseLogs& logs) {
  using Kind = Annotation::Kind;
  const Annotation& how = *access.annotation;
  BlockClocks& clocks = block.clocks;
  if (how.kind == Kind::load || how.kind == Kind::atomic) {
    const auto found = logs.find(access.address);
    if (found != logs.end()) clocks.read(access.thread, access.address, found->second);
  }
  if (how.kind != Kind::load) release(block, access, logs);
  if (how.acquires) clocks.acquire(access.thread, access.address, how.scope);
}

void RaceDetector::release(BlockRaces& block, const WatchedAccess& access, ReleaseLogs& logs) {
  const Annotation& how = *access.annotation;
  BlockClocks& clocks = block.clocks;
  std::shared_ptr<const Release> carried_on;
  // Atomic accesses carry on what was released before; a store begins anew, but for what its own thread has
  // released at this place.
  if (how.kind == Annotation::Kind::store) {
    const auto found = logs.find(access.address);
    if (found != logs.end()) {
      const std::shared_ptr<const Release>& last = found->second->of_last_access();
      if (last != nullptr && last->view.block == clocks.block() && last->view.thread == access.thread)
        carried_on = last;
      logs.erase(found);
    }
  }
  if (!how.releases && carried_on == nullptr && !clocks.has_made_ready(access.thread)) return;
  std::shared_ptr<ReleaseLog>& log = logs[access.address];
  if (log == nullptr) log = std::make_shared<ReleaseLog>();
  if (carried_on != nullptr) log->add_of_access(carried_on);
  if (how.releases) log->add_of_access(clocks.snapshot(access.thread, how.scope));
  // A release that reaches all threads has all that fences before it have made ready.
  if (how.releases && how.scope == Scope::device) return;
  clocks.for_each_made_ready(access.thread,
                             [&](const std::shared_ptr<const Release>& release) { log->add(release); });
}

}  // namespace opgate::simulator
