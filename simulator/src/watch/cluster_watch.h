// What the tools know of a cluster of blocks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "watch/race/release_log.h"

namespace opgate::simulator {

struct BlockWatch;

struct ClusterWatch {
  explicit ClusterWatch(std::size_t size) : blocks(size) {}

  std::vector<BlockWatch*> blocks;  ///< by rank; null for one that has not begun or has ended
  /// What all that arrived at the barrier of the cluster knew, phase by phase.
  std::shared_ptr<ReleaseLog> log = std::make_shared<ReleaseLog>();
  std::uint64_t phase = 1;            ///< to which the end of the log belongs
  std::array<std::size_t, 2> ends{};  ///< of the log, for phases before: even and odd ones

  /// The length of the log that a wait for this phase acquires.
  std::size_t length_of(std::uint64_t of_phase) const {
    return of_phase == phase ? log->length() : ends[of_phase % 2];
  }
};

}  // namespace opgate::simulator
