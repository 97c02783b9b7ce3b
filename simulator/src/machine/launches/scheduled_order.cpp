#include "machine/launches/scheduled_order.h"

#include <algorithm>
#include <set>

#include <opgate_sim/schedule.h>
#include "machine/block.h"

namespace opgate::simulator {
namespace scheduled_order {

Extent cluster_of(const Launch& launch, const Extent& block) {
  return {block.x / launch.cluster.x, block.y / launch.cluster.y, block.z / launch.cluster.z};
}

// "it has 2,1,1 blocks, and no block 7", or that a block is named twice.
std::string misfit_of_blocks(const std::vector<Extent>& blocks, const Extent& grid) {
  std::set<std::uint64_t> named;
  for (const Extent& block : blocks) {
    const std::string text = "block " + block_in_schedule(block);
    if (block.x >= grid.x || block.y >= grid.y || block.z >= grid.z)
      return "it has " + in_short(grid) + " blocks, and no " + text;
    if (!named.insert(linear_index(block, grid)).second) return text + " is named twice";
  }
  return "";
}

std::string misfit_of_warps(const WarpsOfBlock& warps, std::size_t most) {
  std::set<unsigned> named;
  for (const unsigned warp : warps.first) {
    const std::string text = "warp " + std::to_string(warp);
    if (warp >= most) return "its blocks have " + std::to_string(most) + " warps, and no " + text;
    if (!named.insert(warp).second)
      return text + " of block " + block_in_schedule(warps.block) + " is named twice";
  }
  return "";
}

}  // namespace scheduled_order

std::vector<std::uint64_t> first_clusters(const Launch& launch) {
  const Extent clusters{launch.grid.x / launch.cluster.x, launch.grid.y / launch.cluster.y,
                        launch.grid.z / launch.cluster.z};
  std::vector<std::uint64_t> first;
  std::set<std::uint64_t> named;
  for (const Extent& block : launch.schedule->first) {
    const std::uint64_t cluster = linear_index(scheduled_order::cluster_of(launch, block), clusters);
    if (named.insert(cluster).second) first.push_back(cluster);
  }
  return first;
}

std::vector<std::uint64_t> first_in_cluster(const Launch& launch, const Extent& cluster) {
  const Extent& extent = launch.cluster;
  std::vector<std::uint64_t> first;
  if (extent.count() == 1) return first;
  for (const Extent& block : launch.schedule->first) {
    if (scheduled_order::cluster_of(launch, block) == cluster)
      first.push_back(linear_index({block.x % extent.x, block.y % extent.y, block.z % extent.z}, extent));
  }
  return first;
}

std::vector<std::uint64_t> first_warps(const Launch& launch, const Extent& block) {
  for (const WarpsOfBlock& warps : launch.schedule->warps) {
    if (warps.block == block) return {warps.first.begin(), warps.first.end()};
  }
  return {};
}

std::string misfit(const LaunchSchedule& schedule, const Launch& launch) {
  std::string wrong = scheduled_order::misfit_of_blocks(schedule.first, launch.grid);
  const std::size_t threads = launch.block.count();
  std::vector<Extent> blocks;
  for (const WarpsOfBlock& warps : schedule.warps) {
    blocks.push_back(warps.block);
    if (wrong.empty()) wrong = scheduled_order::misfit_of_warps(warps, (threads + kWarpSize - 1) / kWarpSize);
  }
  return wrong.empty() ? scheduled_order::misfit_of_blocks(blocks, launch.grid) : wrong;
}

}  // namespace opgate::simulator
