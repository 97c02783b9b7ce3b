#include "watch/race/race_of_block.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "machine/barrier.h"
#include "machine/block.h"
#include "machine/memory/memory.h"

namespace opgate::simulator {
namespace race_of_block {

constexpr unsigned kNoBarrier = ~0u;

bool is_at_warp_barrier(const Thread& thread) {
  const Annotation* const annotation = thread.current().annotation;
  return annotation != nullptr && annotation->kind == Annotation::Kind::warp_barrier;
}

// Whether a compare-and-swap finds another value than it expects. Of 16 bytes, this is not looked at.
bool fails(Thread& thread, const Instruction& in, const Annotation& how, const WatchedAccess& access) {
  constexpr std::size_t kExpected = 2;
  if (how.bytes > sizeof(std::uint64_t)) return false;
  const unsigned char* const old =
      access.space == Space::shared
          ? locate<Space::shared, Access::atomic>(thread, in, access.named(), how.bytes)
          : locate<Space::global, Access::atomic>(thread, in, access.address, how.bytes);
  return std::memcmp(old, &thread.registers[in.slot(kExpected)], how.bytes) != 0;
}

}  // namespace race_of_block

void RaceOfBlock::begin(const Extent& index, std::size_t /*shared_bytes*/) {
  const std::size_t threads = tool_.launch().launch.block.count();
  const std::uint32_t number = tool_.in_flight().begin_block(index);
  proxy_fences_.start(threads);
  begun_.clear();
  mbarriers_.clear();
  cluster_ = tool_.releases_of_cluster(index);
  cluster_arrivals_ = 0;
  cluster_releases_.clear();
  exited_ = 0;
  races_.start(number, threads, detector_.clusters(), detector_.acquisitions());
}

void RaceOfBlock::access(Thread& thread, const Instruction& instruction, const WatchedAccess& access,
                         BlockTool& owner) {
  if (access.space == Space::local) return;
  const Annotation& how = *access.annotation;
  BlockRaces& of_owner = static_cast<RaceOfBlock&>(owner).races_;
  const auto report = [&](const RaceDetector::Race& race) {
    tool_.consider(thread, instruction, access, race);
  };
  if (how.is_swap && race_of_block::fails(thread, instruction, how, access)) {
    Annotation only_reads = how;
    only_reads.kind = Annotation::Kind::load;
    WatchedAccess read = access;
    read.annotation = &only_reads;
    detector_.access(races_, of_owner, read, report);
  } else {
    detector_.access(races_, of_owner, access, report);
  }
}

void RaceOfBlock::fence(const Thread& thread, const Annotation& how) {
  if (how.acquires) races_.clocks.acquire_fence(thread.linear, how.scope);
  if (how.releases) races_.clocks.release_fence(thread.linear, how.scope);
}

void RaceOfBlock::proxy_fence(const Thread& thread) {
  proxy_fences_.add(thread.linear, races_.clocks.snapshot(thread.linear));
}

void RaceOfBlock::arrive(const Thread& thread, unsigned barrier) {
  races_.clocks.arrive(thread.linear, barrier);
}

void RaceOfBlock::meet(const Barrier& barrier, unsigned id, const std::vector<Thread>& threads) {
  std::vector<std::uint32_t> waiting;
  for (const Arrival& arrival : barrier.arrivals()) {
    if (arrival.waits) waiting.push_back(arrival.thread->linear);
  }
  const auto exited = std::ranges::count_if(threads, &Thread::has_exited);
  const std::size_t alive = threads.size() - static_cast<std::size_t>(exited);
  if (waiting.size() == barrier.arrivals().size() && waiting.size() == alive) {
    races_.meet_all();
  } else {
    races_.clocks.meet(waiting, id);
  }
}

// Only `bar.warp` orders memory; shuffles and votes do not.
void RaceOfBlock::meet_in_warp(std::span<Thread* const> lanes, std::uint32_t here, std::uint32_t /*named*/) {
  const Thread& first = *lanes[static_cast<std::size_t>(std::countr_zero(here))];
  if (!race_of_block::is_at_warp_barrier(first)) return;
  std::vector<std::uint32_t> threads;
  bool all = true;
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    if ((here >> lane & 1) != 0) {
      threads.push_back(lanes[lane]->linear);
    } else if (!lanes[lane]->has_exited()) {
      all = false;
    }
  }
  if (all) {
    races_.clocks.meet_in_warp(first.linear / kWarpSize, threads);
  } else {
    races_.clocks.meet(threads, race_of_block::kNoBarrier);
  }
}

void RaceOfBlock::arrive_in_cluster(const Thread& thread, const Annotation& how) {
  ++cluster_arrivals_;
  if (how.releases) {
    cluster_releases_.push_back(races_.clocks.snapshot(thread.linear));
  } else {
    races_.clocks.for_each_made_ready(thread.linear, [&](const std::shared_ptr<const Release>& release) {
      if (release->scope != Scope::block) cluster_releases_.push_back(release);
    });
  }
  if (thread.cluster_phase != cluster_->phase) {
    cluster_->ends[cluster_->phase % 2] = cluster_->log->length();
    cluster_->phase = thread.cluster_phase;
  }
  release_to_cluster();
}

// Once all threads of the block that have not exited have arrived, what they knew is one release.
void RaceOfBlock::release_to_cluster() {
  if (cluster_arrivals_ == 0 || cluster_arrivals_ + exited_ < races_.clocks.threads()) return;
  cluster_arrivals_ = 0;
  cluster_->log->add(races_.clocks.joined(std::exchange(cluster_releases_, {})));
}

void RaceOfBlock::leave_cluster_barrier(const Thread& thread) {
  const std::uint64_t phase = thread.block->cluster().phase() - 1;
  races_.clocks.acquire_now(thread.linear, cluster_->log, cluster_->length_of(phase));
}

void RaceOfBlock::exit(const Thread& /*thread*/) {
  ++exited_;
  release_to_cluster();
}

void RaceOfBlock::wait_for_grids(const Thread& thread) {
  tool_.in_flight().wait(races_.clocks.block());
  races_.clocks.acquire_now(thread.linear, tool_.in_flight().awaited(), 1);
}

void RaceOfBlock::launch_dependents(const Thread& /*thread*/) {
  tool_.in_flight().trigger(races_.clocks.block());
}

}  // namespace opgate::simulator
