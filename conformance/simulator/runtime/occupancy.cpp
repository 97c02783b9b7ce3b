#include "simulator/runtime/occupancy.h"

#include <algorithm>

#include "simulator/runtime/architecture.h"
#include "simulator/runtime/devices.h"
#include "simulator/runtime/errors.h"

namespace opgate::simulator {
namespace occupancy {

std::size_t blocks_in(const Extent& cluster) { return std::size_t{cluster.x} * cluster.y * cluster.z; }

// Of a launch, on one multiprocessor.
std::size_t resident(const Signature& signature, const LaunchRequest& request) {
  return resident_blocks(signature, request.block.x * request.block.y * request.block.z,
                         request.dynamic_shared);
}

}  // namespace occupancy

unsigned resident_blocks(const Signature& signature, unsigned threads, std::size_t dynamic_shared) {
  const Architecture& limits = architecture();
  if (threads == 0 || threads > signature.max_threads || threads > kThreadsOfBlock) return 0;
  const unsigned warps = (threads + kThreadsOfWarp - 1) / kThreadsOfWarp;
  const std::size_t shared = signature.static_shared_bytes + dynamic_shared + kReservedShared;
  if (shared > limits.shared_of_block + kReservedShared) return 0;
  return std::min({limits.blocks_of_multiprocessor,
                   limits.threads_of_multiprocessor / (warps * kThreadsOfWarp),
                   static_cast<unsigned>(limits.shared_of_multiprocessor / shared)});
}

int resident_blocks(Simulator& simulator, Kernel& kernel, int threads, std::size_t dynamic_shared) {
  if (threads <= 0) refuse(cudaErrorInvalidValue);
  const Signature& signature = signature_of(kernel, devices::current(), simulator.memory);
  return static_cast<int>(resident_blocks(signature, static_cast<unsigned>(threads), dynamic_shared));
}

int resident_clusters(Simulator& simulator, Kernel& kernel, const LaunchRequest& request) {
  const Signature& signature = signature_of(kernel, devices::current(), simulator.memory);
  const std::size_t blocks = occupancy::blocks_in(cluster_of(kernel, signature, request));
  const std::size_t resident = occupancy::resident(signature, request);
  const std::size_t multiprocessors = architecture().multiprocessors;
  return static_cast<int>(multiprocessors / kMostOfCluster * (kMostOfCluster * resident / blocks) +
                          multiprocessors % kMostOfCluster * resident / blocks);
}

int largest_cluster(Simulator& simulator, Kernel& kernel, const LaunchRequest& request) {
  const Signature& signature = signature_of(kernel, devices::current(), simulator.memory);
  if (occupancy::resident(signature, request) == 0) return 0;
  if (signature.required_cluster) return static_cast<int>(occupancy::blocks_in(*signature.required_cluster));
  return static_cast<int>(kernel.allows_large_clusters ? kMostOfCluster : kPortableCluster);
}

}  // namespace opgate::simulator
