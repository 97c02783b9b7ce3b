// A thread that sees a phase of an `mbarrier` complete is ordered after every arrival in that phase.
#include <cstring>
#include <utility>

#include "machine/mbarrier.h"
#include "machine/memory.h"
#include "watch/launch_watch.h"

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

void LaunchWatch::use_mbarrier(BlockWatch& block, Thread& thread, const Instruction& instruction) {
  using Kind = Annotation::Kind;
  const Annotation& annotation = *instruction.annotation;
  const std::uint64_t place =
      in_own_block(thread, instruction, address_of(thread, instruction, annotation.operand));
  const bool exists = place + sizeof(std::uint64_t) <= thread.block->shared_bytes();
  const bool before = exists && watched_mbarriers::phase_of(*thread.block, place);
  instruction.execute(thread, instruction);
  const bool looks = annotation.kind == Kind::mbarrier_look;
  WatchedBarrier& barrier = block.async.barriers[place];
  if (tools_.race) {
    Annotation how = annotation;
    how.kind = looks ? Kind::load : Kind::atomic;
    const WatchedAccess access{&how, Space::shared, place, thread.linear};
    races_.look_at(block.races, access,
                   [&](const RaceDetector::Race& race) { report_race(thread, access, race); });
    if (annotation.releases) barrier.arrived.push_back(snapshot(block, thread));
  }
  if (annotation.kind == Kind::promise) {
    WatchedCopy copies;
    copies.thread = &thread;
    copies.begin = snapshot(block, thread);
    block.async.promises.push_back({place, false, {std::move(copies)}});
  } else if (looks && thread.state == Thread::State::yields) {
    keep_promises(block, place);
  } else if (tools_.race && annotation.acquires && barrier.complete != nullptr) {
    block.races.clocks.learn(thread.linear, *barrier.complete);
  }
  if (!tools_.race || watched_mbarriers::phase_of(*thread.block, place) == before) return;
  barrier.complete = block.races.clocks.joined(barrier.arrived);
  barrier.arrived.clear();
}

void LaunchWatch::keep_promises(BlockWatch& block, std::uint64_t place) {
  std::vector<WatchedPromise> others;
  for (WatchedPromise& promise : std::exchange(block.async.promises, {})) {
    if (promise.place == place) {
      keep(block, promise);
    } else {
      others.push_back(std::move(promise));
    }
  }
  block.async.promises = std::move(others);
}

// Who finds the phase complete knows the copies, and what came before them.
void LaunchWatch::keep(BlockWatch& block, WatchedPromise& promise) {
  const std::uint32_t clock = tools_.race ? block.races.clocks.tick() : 0;
  if (promise.is_bulk) {
    for (WatchedCopy& copy : promise.copies) {
      finish_reading(block, copy);
      finish_copy(block, copy, clock);
    }
  } else {
    settle_copies(block, *promise.copies.front().thread, clock);
  }
  if (!tools_.race) return;
  auto release = std::make_shared<Release>(*promise.copies.front().begin);
  release->view.own = clock + 1;
  block.async.barriers[promise.place].arrived.push_back(std::move(release));
}

}  // namespace opgate::simulator
