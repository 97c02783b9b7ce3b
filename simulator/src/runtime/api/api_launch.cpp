// Launches, attributes of kernels, and occupancy.
#include <algorithm>
#include <string>

#include "runtime/api/api.h"
#include "runtime/code/architecture.h"
#include "runtime/code/kernel_attributes.h"
#include "runtime/launches/launch.h"
#include "runtime/launches/occupancy.h"

using namespace opgate::simulator;

namespace {

template <class Handle>
cudaError_t launch(Handle kernel, const LaunchRequest& request, cudaStream_t stream) {
  return api_call(
      [&](Simulator& simulator) {
        const std::shared_ptr<Kernel> found = simulator.binaries.kernel(kernel);
        launch_named(simulator, found, request, *simulator.stream(stream));
      },
      "cudaLaunchKernel");
}

LaunchRequest request_of(const cudaLaunchConfig_t& config, void** arguments) {
  LaunchRequest request{config.gridDim, config.blockDim, config.dynamicSmemBytes, arguments, false};
  read_launch_attributes(config, request);
  return request;
}

}  // namespace

OPGATE_SIM_API cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                                            std::size_t dynamic_shared, cudaStream_t stream) {
  return launch(function, {grid, block, dynamic_shared, arguments, false}, stream);
}

OPGATE_SIM_API cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block,
                                                       void** arguments, std::size_t dynamic_shared,
                                                       cudaStream_t stream) {
  return launch(function, {grid, block, dynamic_shared, arguments, true}, stream);
}

OPGATE_SIM_API cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function,
                                               void** arguments) {
  return api_call([&](Simulator& simulator) {
    require(config);
    launch_kernel(simulator, simulator.binaries.kernel(function), request_of(*config, arguments),
                  *simulator.stream(config->stream));
  });
}

/// What nvcc 13 makes of `kernel<<<...>>>`.
OPGATE_SIM_API cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                                              std::size_t dynamic_shared, cudaStream_t stream) {
  return launch(kernel, {grid, block, dynamic_shared, arguments, false}, stream);
}

OPGATE_SIM_API cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* result, const void* function) {
  return api_call(give(result, [&](Simulator& simulator) {
    return kernel_attributes(*simulator.binaries.kernel(function), devices::current(), simulator.memory);
  }));
}

OPGATE_SIM_API cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute,
                                                int value) {
  return api_call([&](Simulator& simulator) {
    set_kernel_attribute(simulator.memory, *simulator.binaries.kernel(function), attribute, value,
                         devices::current());
  });
}

OPGATE_SIM_API cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, cudaFuncAttribute attribute,
                                                           int value, int device) {
  return api_call([&](Simulator& simulator) {
    devices::require(device);
    set_kernel_attribute(simulator.memory, *simulator.binaries.kernel(kernel), attribute, value, device);
  });
}

OPGATE_SIM_API cudaError_t cudaFuncSetCacheConfig(const void* function, cudaFuncCache /*preference*/) {
  return api_call([&](Simulator& simulator) { static_cast<void>(simulator.binaries.kernel(function)); });
}

OPGATE_SIM_API cudaError_t cudaFuncGetName(const char** name, const void* function) {
  return api_call(
      give(name, [&](Simulator& simulator) { return simulator.binaries.kernel(function)->name.c_str(); }));
}

OPGATE_SIM_API cudaError_t cudaGetKernel(cudaKernel_t* result, const void* function) {
  return api_call(give(
      result, [&](Simulator& simulator) { return Binaries::handle(simulator.binaries.kernel(function)); }));
}

OPGATE_SIM_API cudaError_t __cudaGetKernel(cudaKernel_t* result, const void* function) {
  return cudaGetKernel(result, function);
}

OPGATE_SIM_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, const void* function, int threads, std::size_t dynamic_shared, unsigned /*flags*/) {
  return api_call(give(blocks, [&](Simulator& simulator) {
    return resident_blocks(simulator, *simulator.binaries.kernel(function), threads, dynamic_shared);
  }));
}

OPGATE_SIM_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function,
                                                                         int threads,
                                                                         std::size_t dynamic_shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, dynamic_shared,
                                                                cudaOccupancyDefault);
}

OPGATE_SIM_API cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* function,
                                                          const cudaLaunchConfig_t* config) {
  return api_call(give(clusters, [&](Simulator& simulator) {
    require(config);
    return resident_clusters(simulator, *simulator.binaries.kernel(function),
                             request_of(*config, /*arguments=*/nullptr));
  }));
}

OPGATE_SIM_API cudaError_t cudaOccupancyMaxPotentialClusterSize(int* blocks, const void* function,
                                                                const cudaLaunchConfig_t* config) {
  return api_call(give(blocks, [&](Simulator& simulator) {
    require(config);
    return largest_cluster(simulator, *simulator.binaries.kernel(function),
                           request_of(*config, /*arguments=*/nullptr));
  }));
}

OPGATE_SIM_API cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, const void* function,
                                                                     int blocks, int threads) {
  return api_call([&](Simulator& simulator) {
    require(bytes);
    if (blocks <= 0 || threads <= 0) refuse(cudaErrorInvalidValue);
    const auto kernel = simulator.binaries.kernel(function);
    const Signature& signature = signature_of(*kernel, devices::current(), simulator.memory);
    const std::size_t share = architecture().shared_of_multiprocessor / static_cast<std::size_t>(blocks);
    const std::size_t taken = signature.static_shared_bytes + kReservedShared;
    *bytes = std::min(share > taken ? share - taken : 0,
                      architecture().shared_of_block - signature.static_shared_bytes);
  });
}
