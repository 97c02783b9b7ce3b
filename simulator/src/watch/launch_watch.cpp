#include "watch/launch_watch.h"

#include <algorithm>

#include "watch/block_watch.h"

namespace opgate::simulator {

LaunchWatch::LaunchWatch(const Program& program, const Launch& launch)
    : launch_{program, launch, *launch.observer}, tools_(launch.observer->tools().make(launch_)) {}

LaunchWatch::~LaunchWatch() {
  for (const auto& tool : tools_) tool->end();
}

std::unique_ptr<BlockObserver> LaunchWatch::watch_block() { return std::make_unique<BlockWatch>(*this); }

void LaunchWatch::begin_memory(std::uint64_t address, std::size_t bytes) {
  for (const auto& tool : tools_) tool->begin_memory(address, bytes);
}

bool LaunchWatch::repeats() const {
  return std::ranges::any_of(tools_, [](const auto& tool) { return tool->repeats(); });
}

void LaunchWatch::repeat(Repetition& again) {
  for (const auto& tool : tools_) tool->repeat(again);
}

std::vector<std::unique_ptr<BlockTool>> LaunchWatch::tools_of(BlockWatch& block) {
  std::vector<std::unique_ptr<BlockTool>> tools;
  for (const auto& tool : tools_) tools.push_back(tool->watch_block(block));
  return tools;
}

std::shared_ptr<WatchedCluster> LaunchWatch::join_cluster(BlockWatch& block, const Extent& index) {
  const Extent& extent = launch_.launch.cluster;
  const std::size_t size = extent.count();
  std::shared_ptr<WatchedCluster> cluster;
  if (size == 1) {
    cluster = std::make_shared<WatchedCluster>(size);
  } else {
    std::weak_ptr<WatchedCluster>& known = clusters_[launch_.cluster_of(index)];
    cluster = known.lock();
    if (cluster == nullptr) known = cluster = std::make_shared<WatchedCluster>(size);
  }
  const Extent in_cluster{index.x % extent.x, index.y % extent.y, index.z % extent.z};
  cluster->blocks[linear_index(in_cluster, extent)] = &block;
  return cluster;
}

}  // namespace opgate::simulator
