// What clusters mean to the tools: their barrier orders what their threads do, and their blocks reach each
// other's shared memory.
#include "machine/cluster.h"

#include <utility>

#include "machine/block.h"
#include "machine/faults.h"
#include "watch/launch_watch.h"
#include "watch/places.h"

namespace opgate::simulator {

void LaunchWatch::join_cluster(BlockWatch& block, const Extent& index) {
  const Extent& extent = launch_.cluster;
  const std::size_t size = extent.count();
  if (size == 1) {
    block.cluster = std::make_shared<ClusterWatch>(size);
    block.cluster->blocks[0] = &block;
    return;
  }
  const Extent clusters{launch_.grid.x / extent.x, launch_.grid.y / extent.y, launch_.grid.z / extent.z};
  std::weak_ptr<ClusterWatch>& known =
      clusters_[linear_index({index.x / extent.x, index.y / extent.y, index.z / extent.z}, clusters)];
  block.cluster = known.lock();
  if (block.cluster == nullptr) known = block.cluster = std::make_shared<ClusterWatch>(size);
  const Extent in_cluster{index.x % extent.x, index.y % extent.y, index.z % extent.z};
  block.cluster->blocks[linear_index(in_cluster, extent)] = &block;
}

void LaunchWatch::arrive_in_cluster(BlockWatch& block, Thread& thread, const Instruction& instruction) {
  instruction.execute(thread, instruction);
  if (!tools_.race) return;
  ++block.cluster_arrivals;
  if (instruction.annotation->releases) {
    block.cluster_releases.push_back(snapshot(block, thread));
  } else {
    block.races.clocks.for_each_made_ready(thread.linear, [&](const std::shared_ptr<const Release>& release) {
      if (release->scope != Scope::block) block.cluster_releases.push_back(release);
    });
  }
  ClusterWatch& cluster = *block.cluster;
  if (thread.cluster_phase != cluster.phase) {
    cluster.ends[cluster.phase % 2] = cluster.log->length();
    cluster.phase = thread.cluster_phase;
  }
  release_to_cluster(block);
}

// Once all threads of the block that have not exited have arrived, what they knew is one release.
void LaunchWatch::release_to_cluster(BlockWatch& block) {
  const std::size_t threads = launch_.block.count();
  if (block.cluster_arrivals == 0 || block.cluster_arrivals + block.async.exited < threads) return;
  block.cluster_arrivals = 0;
  block.cluster->log->add(block.races.clocks.joined(std::exchange(block.cluster_releases, {})));
}

void LaunchWatch::leave_cluster_barrier(BlockWatch& block, Thread& thread) {
  if (!tools_.race) return;
  const std::uint64_t phase = thread.block->cluster().phase() - 1;
  block.races.clocks.acquire_now(thread.linear, block.cluster->log, block.cluster->length_of(phase));
}

// Null if there is no such block, which is a fault of the kernel.
BlockWatch* LaunchWatch::owner_of(BlockWatch& block, const Thread& thread,
                                  const WatchedAccess& access) const {
  const std::uint64_t rank = access.address >> kRankAt;
  if (access.space != Space::shared || rank == 0) return &block;
  return thread.block->cluster().block(rank - 1) == nullptr ? nullptr : block.cluster->blocks[rank - 1];
}

// The tools do not follow copies to another block, and arrivals there.
std::uint64_t LaunchWatch::in_own_block(const Thread& thread, const Instruction& instruction,
                                        std::uint64_t address) const {
  const std::uint64_t rank = (address & 0xffffffffu) >> kRankAt;
  if (rank != 0 && rank != thread.block->rank() + 1)
    throw KernelFault{
        Fault::unsupported,
        *instruction.text + " in another block of the cluster while tools watch (OPGATE_SIM_TOOLS)"};
  return address & kOffsetInBlock;
}

}  // namespace opgate::simulator
