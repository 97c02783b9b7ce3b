// The limits of a simulated device, by its compute capability: "Technical Specifications per Compute
// Capability" of the CUDA programming guide. Counts of multiprocessors and caches are those of one product of
// each.
#pragma once

#include <cstddef>
#include <vector>

namespace opgate::simulator {

struct Architecture {
  unsigned capability;  ///< 90 for 9.0
  const char* product;
  unsigned multiprocessors;
  unsigned threads_of_multiprocessor;
  unsigned blocks_of_multiprocessor;
  std::size_t shared_of_multiprocessor;
  std::size_t shared_of_block;  ///< after cudaFuncSetAttribute; static and dynamic together
  std::size_t l2_cache;
};

inline constexpr unsigned kThreadsOfBlock = 1024;
inline constexpr unsigned kThreadsOfBlockInZ = 64;
inline constexpr unsigned kBlocksOfGridInX = 2147483647;
inline constexpr unsigned kBlocksOfGridInYOrZ = 65535;
inline constexpr std::size_t kPortableCluster = 8;  ///< blocks of a cluster that every device can hold
inline constexpr std::size_t kMostOfCluster = 16;
inline constexpr unsigned kThreadsOfWarp = 32;
inline constexpr unsigned kRegisters = 65536;  ///< of a block and of a multiprocessor
inline constexpr std::size_t kSharedByDefault = std::size_t{48} << 10;  ///< of a block that asked for no more
inline constexpr std::size_t kReservedShared = 1024;                    ///< of each block, for the system

/// Those of OPGATE_SIM_ARCH.
std::vector<unsigned> known_capabilities();

/// The architecture of all simulated devices.
const Architecture& architecture();

}  // namespace opgate::simulator
