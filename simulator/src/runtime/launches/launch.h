// The launch of a kernel: its limits, its parameters, and what its faults mean.
#pragma once

#include <driver_types.h>
#include <vector_types.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "runtime/code/architecture.h"
#include "runtime/code/binaries.h"
#include "runtime/streams/stream.h"

namespace opgate::simulator {

struct Simulator;

struct LaunchRequest {
  dim3 grid;
  dim3 block;
  std::size_t dynamic_shared = 0;
  void** arguments = nullptr;  ///< one address for each parameter
  bool cooperative = false;
  std::optional<dim3> cluster = std::nullopt;  ///< in blocks; none: that of the kernel, if it has one
  bool begins_early = false;  ///< may begin before the kernel before it in the stream has ended
};

/// Issues the kernel to the stream. What the device would refuse is refused here; faults appear when the
/// kernel runs.
void launch_kernel(Simulator& simulator, const std::shared_ptr<Kernel>& kernel, const LaunchRequest& request,
                   Stream& stream);

/// The same for functions of which a refusal names the launch.
void launch_named(Simulator& simulator, const std::shared_ptr<Kernel>& kernel, const LaunchRequest& request,
                  Stream& stream);

/// For people: the kernel, its blocks and threads.
std::string text_of(const Kernel& kernel, const LaunchRequest& request);

/// Sets in the request what attributes of a launch ask for. Refuses those that are not simulated.
void read_launch_attributes(const cudaLaunchConfig_t& config, LaunchRequest& request);

/// The signature of a kernel on a device. Refuses where the kernel cannot be run.
const Signature& signature_of(Kernel& kernel, int device, MemoryMap& memory);

/// The extent of the clusters of a launch in blocks: that of the request, or the one that the kernel was
/// compiled for. Refuses if these differ, if the device cannot hold such a cluster, or if the grid has a part
/// of one.
Extent cluster_of(const Kernel& kernel, const Signature& signature, const LaunchRequest& request,
                  std::size_t most_blocks = kMostOfCluster);

}  // namespace opgate::simulator
