// What accesses of warps cost the memory system.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/types.h"

namespace opgate::simulator {

struct TrafficCounts {
  std::uint64_t sectors = 0;         ///< of global memory that accesses touch
  std::uint64_t enough_sectors = 0;  ///< that have room for the bytes which they access
  std::uint64_t extra_passes = 0;    ///< of shared memory, because of bank conflicts

  void add(const TrafficCounts& other);
  std::uint64_t cost() const { return sectors - enough_sectors + extra_passes; }
};

/// One access of a warp, by the addresses of its threads, each of so many bytes.
TrafficCounts traffic_of(Space space, unsigned bytes, std::vector<std::uint64_t> addresses);

}  // namespace opgate::simulator
