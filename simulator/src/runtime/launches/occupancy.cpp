#include "runtime/launches/occupancy.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "runtime/code/architecture.h"
#include "runtime/devices/devices.h"
#include "runtime/findings/errors.h"

namespace opgate::simulator {
namespace occupancy {

// Multiprocessors that can share a cluster. On GPUs, their numbers differ from one to the next: these explain
// all that an H200 answers. Those of other simulated devices are made up.
std::vector<std::size_t> groups_of_multiprocessors() {
  constexpr unsigned kOfH200 = 132;
  const unsigned all = architecture().multiprocessors;
  if (all == kOfH200) return {18, 18, 16, 16, 16, 16, 16, 8, 2, 2, 2, 2};
  std::vector<std::size_t> groups(all / kMostOfCluster, kMostOfCluster);
  groups.push_back(all % kMostOfCluster);
  return groups;
}

// For a launch, on one multiprocessor.
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
  constexpr std::size_t kMostBlocksInClusters = 8;  // of a multiprocessor
  const std::size_t blocks =
      cluster_of(kernel, signature, request, std::numeric_limits<std::size_t>::max()).count();
  const std::size_t resident = std::min(occupancy::resident(signature, request), kMostBlocksInClusters);
  std::size_t clusters = 0;
  for (const std::size_t group : occupancy::groups_of_multiprocessors()) {
    if (group >= blocks) clusters += group * resident / blocks;
  }
  return static_cast<int>(clusters);
}

int largest_cluster(Simulator& simulator, Kernel& kernel, const LaunchRequest& request) {
  const Signature& signature = signature_of(kernel, devices::current(), simulator.memory);
  if (signature.required_cluster) cluster_of(kernel, signature, request);
  if (occupancy::resident(signature, request) == 0) return 0;
  if (signature.required_cluster) return static_cast<int>(signature.required_cluster->count());
  return static_cast<int>(kernel.allows_large_clusters ? kMostOfCluster : kPortableCluster);
}

}  // namespace opgate::simulator
