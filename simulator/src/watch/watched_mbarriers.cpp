// Objects of `mbarrier`, and the promises that arrive there when copies are complete.
#include <cstring>
#include <utility>

#include "machine/block.h"
#include "machine/mbarrier.h"
#include "machine/memory/memory.h"
#include "watch/block_watch.h"

namespace opgate::simulator {
namespace watched_mbarriers {

// Only of objects that an instruction has used.
bool phase_of(Block& block, std::uint64_t place) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, block.shared() + place, sizeof(bits));
  MBarrier barrier;
  barrier.unpack(bits);
  return barrier.phase;
}

}  // namespace watched_mbarriers

void BlockWatch::use_mbarrier(Thread& thread, const Instruction& instruction) {
  using Kind = Annotation::Kind;
  const Annotation& annotation = *instruction.annotation;
  const std::uint64_t place =
      place_in_own_block(thread, instruction, address_of(thread, instruction, annotation.operand));
  const bool exists = place + sizeof(std::uint64_t) <= thread.block->shared_bytes();
  const bool before = exists && watched_mbarriers::phase_of(*thread.block, place);
  instruction.execute(thread, instruction);
  emit(&BlockTool::use_mbarrier, thread, annotation, place);
  if (annotation.kind == Kind::promise) {
    WatchedPromise promise;
    promise.place = place;
    begin(promise.copy, thread, instruction);
    emit(&BlockTool::begin_async, promise.copy);
    async_.promises.push_back(std::move(promise));
  } else if (annotation.kind == Kind::mbarrier_look && thread.state == Thread::State::yields) {
    keep_promises(place);
  }
  if (watched_mbarriers::phase_of(*thread.block, place) != before) emit(&BlockTool::complete_phase, place);
}

void BlockWatch::keep_promises(std::uint64_t place) {
  std::vector<WatchedPromise> others;
  for (WatchedPromise& promise : std::exchange(async_.promises, {})) {
    if (promise.place == place) {
      keep(promise);
    } else {
      others.push_back(std::move(promise));
    }
  }
  async_.promises = std::move(others);
}

void BlockWatch::keep(WatchedPromise& promise) {
  emit(&BlockTool::complete_by_promise, promise);
  if (promise.is_bulk) {
    progress(promise.copy, /*is_read=*/true, /*is_written=*/true);
  } else {
    settle_copies(*promise.copy.thread);
  }
  emit(&BlockTool::keep, promise);
  emit(&BlockTool::end_async, promise.copy);
}

}  // namespace opgate::simulator
