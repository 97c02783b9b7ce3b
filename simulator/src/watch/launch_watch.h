// One launch that is watched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "machine/launches/launch_observer.h"
#include "watch/tool.h"
#include "watch/watched_launch.h"

namespace opgate::simulator {

/// The blocks of a cluster, which reach each other's shared memory.
struct WatchedCluster {
  explicit WatchedCluster(std::size_t size) : blocks(size) {}

  std::vector<BlockWatch*> blocks;  ///< by rank; null for one that has not begun or has ended
};

class LaunchWatch final : public LaunchObserver {
 public:
  /// The program must have its annotations.
  LaunchWatch(const Program& program, const Launch& launch);
  ~LaunchWatch() override;
  LaunchWatch(const LaunchWatch&) = delete;
  LaunchWatch& operator=(const LaunchWatch&) = delete;

  std::unique_ptr<BlockObserver> watch_block() override;
  void begin_memory(std::uint64_t address, std::size_t bytes) override;

  /// Whether a tool has to repeat the launch when it has ended without a fault.
  bool repeats() const;
  void repeat(Repetition& again);

  const WatchedLaunch& launch() const { return launch_; }

  /// The tools in a block.
  std::vector<std::unique_ptr<BlockTool>> tools_of(BlockWatch& block);

  /// The cluster of a block that begins, and is in it from now on.
  std::shared_ptr<WatchedCluster> join_cluster(BlockWatch& block, const Extent& index);

 private:
  WatchedLaunch launch_;
  std::vector<std::unique_ptr<Tool>> tools_;
  std::unordered_map<std::uint64_t, std::weak_ptr<WatchedCluster>> clusters_;  ///< by their linear indices
};

}  // namespace opgate::simulator
