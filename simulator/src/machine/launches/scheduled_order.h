// What the order of a launch, or its schedule, means for its clusters, blocks and warps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "machine/launches/block_order.h"
#include "machine/launches/launch.h"

namespace opgate::simulator {

/// The order in which the warps of the `number`th block to start have their turns, from 1, for a launch
/// without a schedule. Compiled code starts the threads one after the other, so that only launches that are
/// watched have an order.
inline BlockOrder warp_order(const Launch& launch, std::uint64_t warps, std::uint64_t number) {
  return {warps, launch.observer == nullptr ? 0 : launch.order_seed, launch.number + number};
}

// For a launch with a schedule, which must fit the launch:

/// The linear indices of clusters that begin before the others. A cluster begins with its first block.
std::vector<std::uint64_t> first_clusters(const Launch& launch);

/// In the cluster of this index, the ranks of blocks that begin before the others.
std::vector<std::uint64_t> first_in_cluster(const Launch& launch, const Extent& cluster);

/// In the block of this index, the warps that go before the others.
std::vector<std::uint64_t> first_warps(const Launch& launch, const Extent& block);

/// Why a schedule does not fit the launch: "it has 2,1,1 blocks, and no block 7". Empty if it does.
std::string misfit(const LaunchSchedule& schedule, const Launch& launch);

}  // namespace opgate::simulator
