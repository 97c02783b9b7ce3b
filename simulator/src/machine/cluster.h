// A cluster of blocks: they begin together, reach each other's shared memory, and have one more barrier.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "machine/launches/launch.h"

namespace opgate::simulator {

class Block;
class Thread;

/// In addresses of shared memory, 8 bits say whose it is: 0 for that of the block itself, otherwise 1 more
/// than the rank of a block in the cluster, as `mapa` makes them.
constexpr unsigned kRankAt = 24;
constexpr std::uint32_t kOffsetInBlock = (std::uint32_t{1} << kRankAt) - 1;

/// The same place in the shared memory of the block of this rank.
constexpr std::uint64_t address_in_block(std::uint64_t address, std::size_t rank) {
  return (address & kOffsetInBlock) | std::uint64_t{rank + 1} << kRankAt;
}

class Cluster {
 public:
  /// `index`: in the grid of clusters.
  Cluster(const Extent& index, const Extent& extent) : index_(index), blocks_(extent.count()) {}

  const Extent& index() const { return index_; }
  std::size_t size() const { return blocks_.size(); }

  void begin(std::size_t rank, Block& block) { blocks_[rank] = &block; }
  void end(std::size_t rank) { blocks_[rank] = nullptr; }
  /// Null if the cluster has no such block, or if the block has ended.
  Block* block(std::size_t rank) const { return rank < blocks_.size() ? blocks_[rank] : nullptr; }

  /// `barrier.cluster`: which phase it is in; the first one is 1. A phase is complete when all threads that
  /// have not exited have arrived.
  std::uint64_t phase() const { return phase_; }
  void arrive() {
    ++arrived_;
    has_met_ = true;
  }
  /// Whether a thread has ever arrived.
  bool has_met() const { return has_met_; }
  /// A thread that had arrived in this phase has exited.
  void withdraw() { --arrived_; }
  void complete_if_all_have_arrived();

  /// A block can only go on when others have. False if none of them can, either.
  bool wait_for_others() { return ++waits_ <= kMostWaits * blocks_.size(); }
  void note_progress() { waits_ = 0; }

 private:
  static constexpr std::size_t kMostWaits = 4;  ///< turns of each block

  Extent index_;
  std::vector<Block*> blocks_;  ///< by rank
  std::uint64_t phase_ = 1;
  std::size_t arrived_ = 0;
  bool has_met_ = false;
  std::size_t waits_ = 0;
};

}  // namespace opgate::simulator
