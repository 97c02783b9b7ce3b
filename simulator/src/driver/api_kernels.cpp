// The driver's functions for kernels: attributes, occupancy and launches.
#include <cuda_runtime_api.h>

#include <vector>

#include "driver/driver_call.h"
#include "runtime/code/kernel_attributes.h"
#include "runtime/launches/launch.h"
#include "runtime/launches/occupancy.h"

using namespace opgate::simulator;

namespace {

std::shared_ptr<Kernel> kernel_of(Simulator& simulator, const void* handle) {
  return simulator.binaries.kernel(static_cast<cudaKernel_t>(const_cast<void*>(handle)));
}

int value_of(const cudaFuncAttributes& all, CUfunction_attribute attribute) {
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      return all.maxThreadsPerBlock;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      return static_cast<int>(all.sharedSizeBytes);
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
      return static_cast<int>(all.constSizeBytes);
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      return static_cast<int>(all.localSizeBytes);
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      return all.numRegs;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
      return all.ptxVersion;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      return all.binaryVersion;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      return all.maxDynamicSharedSizeBytes;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      return all.preferredShmemCarveout;
    default:
      refuse(cudaErrorNotSupported, "cuFuncGetAttribute(" + std::to_string(static_cast<int>(attribute)) +
                                        "), which is not simulated");
  }
}

// The parameters of a kernel in one buffer, as `extra` has them: each lies where the PTX declares it.
std::vector<void*> in_buffer(const Signature& signature, void** extra) {
  unsigned char* buffer = nullptr;
  for (void** at = extra; *at != CU_LAUNCH_PARAM_END; at += 2)
    if (*at == CU_LAUNCH_PARAM_BUFFER_POINTER) buffer = static_cast<unsigned char*>(at[1]);
  if (buffer == nullptr) refuse(cudaErrorInvalidValue);
  std::vector<void*> arguments;
  for (const Parameter& parameter : signature.parameters) arguments.push_back(buffer + parameter.offset);
  return arguments;
}

CUresult launch(CUfunction function, LaunchRequest request, CUstream stream, void** extra,
                const cudaLaunchConfig_t* config, const char* name) {
  return driver_call(
      [&](Simulator& simulator) {
        const std::shared_ptr<Kernel> kernel = kernel_of(simulator, function);
        if (config != nullptr) read_launch_attributes(*config, request);
        std::vector<void*> arguments;
        if (request.arguments == nullptr && extra != nullptr) {
          arguments = in_buffer(signature_of(*kernel, devices::current(), simulator.memory), extra);
          request.arguments = arguments.data();
        }
        launch_named(simulator, kernel, request, *simulator.stream(stream));
      },
      name);
}

// Numbers and layouts of attributes are the same in both libraries.
cudaLaunchConfig_t of_runtime(const CUlaunchConfig& config) {
  cudaLaunchConfig_t same{};
  same.gridDim = dim3(config.gridDimX, config.gridDimY, config.gridDimZ);
  same.blockDim = dim3(config.blockDimX, config.blockDimY, config.blockDimZ);
  same.dynamicSmemBytes = config.sharedMemBytes;
  same.stream = config.hStream;
  same.attrs = reinterpret_cast<cudaLaunchAttribute*>(config.attrs);
  same.numAttrs = config.numAttrs;
  return same;
}

LaunchRequest request_of(const CUlaunchConfig& config) {
  const cudaLaunchConfig_t same = of_runtime(config);
  LaunchRequest request{same.gridDim, same.blockDim, same.dynamicSmemBytes, nullptr, false};
  read_launch_attributes(same, request);
  return request;
}

}  // namespace

OPGATE_SIM_DRIVER_API cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function) {
  return driver_call(give(value, [&](Simulator& simulator) {
    return value_of(kernel_attributes(*kernel_of(simulator, function), devices::current(), simulator.memory),
                    attribute);
  }));
}

// The numbers of attributes are the same in both libraries.
OPGATE_SIM_DRIVER_API cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  // A mode of CUDA 13.1 in which shared memory may be larger: programs ask for it, and take another way if
  // the driver is older.
  constexpr int kSharedMemoryMode = 17;
  if (static_cast<int>(attribute) >= kSharedMemoryMode) return CUDA_ERROR_INVALID_VALUE;
  return driver_call([&](Simulator& simulator) {
    set_kernel_attribute(simulator.memory, *kernel_of(simulator, function),
                         static_cast<cudaFuncAttribute>(attribute), value, devices::current());
  });
}

OPGATE_SIM_DRIVER_API cuFuncSetCacheConfig(CUfunction function, CUfunc_cache /*preference*/) {
  return driver_call([&](Simulator& simulator) { static_cast<void>(kernel_of(simulator, function)); });
}

OPGATE_SIM_DRIVER_API cuFuncGetName(const char** name, CUfunction function) {
  return driver_call(
      give(name, [&](Simulator& simulator) { return kernel_of(simulator, function)->name.c_str(); }));
}

OPGATE_SIM_DRIVER_API cuKernelGetAttribute(int* value, CUfunction_attribute attribute, CUkernel kernel,
                                           CUdevice device) {
  return driver_call(give(value, [&](Simulator& simulator) {
    devices::require(device);
    return value_of(kernel_attributes(*kernel_of(simulator, kernel), device, simulator.memory), attribute);
  }));
}

OPGATE_SIM_DRIVER_API cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel,
                                           CUdevice device) {
  return driver_call([&](Simulator& simulator) {
    devices::require(device);
    set_kernel_attribute(simulator.memory, *kernel_of(simulator, kernel),
                         static_cast<cudaFuncAttribute>(attribute), value, device);
  });
}

OPGATE_SIM_DRIVER_API cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function,
                                                                  int threads, std::size_t dynamic_shared) {
  return driver_call(give(blocks, [&](Simulator& simulator) {
    return resident_blocks(simulator, *kernel_of(simulator, function), threads, dynamic_shared);
  }));
}

OPGATE_SIM_DRIVER_API cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction function,
                                                                           int threads,
                                                                           std::size_t dynamic_shared,
                                                                           unsigned /*flags*/) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, dynamic_shared);
}

OPGATE_SIM_DRIVER_API cuOccupancyMaxActiveClusters(int* clusters, CUfunction function,
                                                   const CUlaunchConfig* config) {
  return driver_call(give(clusters, [&](Simulator& simulator) {
    require(config);
    return resident_clusters(simulator, *kernel_of(simulator, function), request_of(*config));
  }));
}

OPGATE_SIM_DRIVER_API cuOccupancyMaxPotentialClusterSize(int* blocks, CUfunction function,
                                                         const CUlaunchConfig* config) {
  return driver_call(give(blocks, [&](Simulator& simulator) {
    require(config);
    return largest_cluster(simulator, *kernel_of(simulator, function), request_of(*config));
  }));
}

OPGATE_SIM_DRIVER_API cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                     unsigned block_x, unsigned block_y, unsigned block_z,
                                     unsigned dynamic_shared, CUstream stream, void** arguments,
                                     void** extra) {
  return launch(
      function,
      {dim3(grid_x, grid_y, grid_z), dim3(block_x, block_y, block_z), dynamic_shared, arguments, false},
      stream, extra, nullptr, "cuLaunchKernel");
}

OPGATE_SIM_DRIVER_API cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** arguments,
                                       void** extra) {
  if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const cudaLaunchConfig_t same = of_runtime(*config);
  return launch(function, {same.gridDim, same.blockDim, same.dynamicSmemBytes, arguments, false}, same.stream,
                extra, &same, "cuLaunchKernelEx");
}

OPGATE_SIM_DRIVER_API cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                                unsigned grid_z, unsigned block_x, unsigned block_y,
                                                unsigned block_z, unsigned dynamic_shared, CUstream stream,
                                                void** arguments) {
  return launch(
      function,
      {dim3(grid_x, grid_y, grid_z), dim3(block_x, block_y, block_z), dynamic_shared, arguments, true},
      stream, nullptr, nullptr, "cuLaunchCooperativeKernel");
}
