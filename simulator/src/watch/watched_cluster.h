// The blocks of a cluster, which reach each other's shared memory.
#pragma once

#include <cstddef>
#include <vector>

namespace opgate::simulator {

class BlockWatch;

struct WatchedCluster {
  explicit WatchedCluster(std::size_t size) : blocks(size) {}

  std::vector<BlockWatch*> blocks;  ///< by rank; null for one that has not begun or has ended
};

}  // namespace opgate::simulator
