// How many blocks and clusters of a kernel a device holds at a time.
#pragma once

#include <cstddef>

#include "runtime/code/binaries.h"
#include "runtime/devices/simulator.h"
#include "runtime/launches/launch.h"

namespace opgate::simulator {

/// How many blocks of so many threads a multiprocessor can hold at a time. Registers do not limit it: PTX
/// does not say how many a kernel needs.
unsigned resident_blocks(const Signature& signature, unsigned threads, std::size_t dynamic_shared);

/// The same for a kernel on the current device, as functions of occupancy answer it. Refuses if there are no
/// threads.
int resident_blocks(Simulator& simulator, Kernel& kernel, int threads, std::size_t dynamic_shared);

/// How many clusters of the launch the current device can hold at a time. All blocks of a cluster are in one
/// group of multiprocessors. A cluster may have more blocks than a launch allows, as on a GPU.
int resident_clusters(Simulator& simulator, Kernel& kernel, const LaunchRequest& request);

/// How many blocks the largest cluster of such a launch may have; 0 if the device cannot hold a block.
int largest_cluster(Simulator& simulator, Kernel& kernel, const LaunchRequest& request);

}  // namespace opgate::simulator
