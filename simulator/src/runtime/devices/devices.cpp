#include "runtime/devices/devices.h"

#include <cstdio>
#include <cstring>
#include <iterator>

#include "runtime/code/architecture.h"
#include "runtime/devices/settings.h"
#include "runtime/findings/errors.h"

namespace opgate::simulator::devices {
namespace {

thread_local int current_device = 0;

template <class To, class From>
To narrow(From value) {
  return static_cast<To>(value);
}

}  // namespace

int current() { return current_device; }

void require(int device) {
  if (device < 0 || device >= settings().devices) refuse(cudaErrorInvalidDevice);
}

void set_current(int device) {
  require(device);
  current_device = device;
}

cudaDeviceProp properties(int device) {
  require(device);
  const Architecture& limits = architecture();
  cudaDeviceProp values{};
  std::snprintf(values.name, std::size(values.name), "OpGate simulated %s", limits.product);
  // Torch tells devices apart by their identifiers.
  std::memcpy(values.uuid.bytes, "opgate simulated", std::size(values.uuid.bytes));
  values.uuid.bytes[std::size(values.uuid.bytes) - 1] = narrow<char>(device);
  values.major = narrow<int>(limits.capability / 10);
  values.minor = narrow<int>(limits.capability % 10);
  values.totalGlobalMem = settings().memory_bytes;
  values.sharedMemPerBlock = kSharedByDefault;
  values.sharedMemPerBlockOptin = limits.shared_of_block;
  values.sharedMemPerMultiprocessor = limits.shared_of_multiprocessor;
  values.reservedSharedMemPerBlock = kReservedShared;
  values.regsPerBlock = narrow<int>(kRegisters);
  values.regsPerMultiprocessor = narrow<int>(kRegisters);
  values.warpSize = narrow<int>(kThreadsOfWarp);
  values.maxThreadsPerBlock = narrow<int>(kThreadsOfBlock);
  values.maxThreadsDim[0] = narrow<int>(kThreadsOfBlock);
  values.maxThreadsDim[1] = narrow<int>(kThreadsOfBlock);
  values.maxThreadsDim[2] = narrow<int>(kThreadsOfBlockInZ);
  values.maxGridSize[0] = narrow<int>(kBlocksOfGridInX);
  values.maxGridSize[1] = narrow<int>(kBlocksOfGridInYOrZ);
  values.maxGridSize[2] = narrow<int>(kBlocksOfGridInYOrZ);
  values.maxThreadsPerMultiProcessor = narrow<int>(limits.threads_of_multiprocessor);
  values.maxBlocksPerMultiProcessor = narrow<int>(limits.blocks_of_multiprocessor);
  values.multiProcessorCount = narrow<int>(limits.multiprocessors);
  values.l2CacheSize = narrow<int>(limits.l2_cache);
  values.totalConstMem = 65536;
  values.memPitch = 2147483647;
  values.textureAlignment = 512;
  values.texturePitchAlignment = 32;
  values.surfaceAlignment = 512;
  values.memoryBusWidth = 5120;
  values.asyncEngineCount = 3;
  values.pciBusID = device + 1;
  values.canMapHostMemory = 1;
  values.concurrentKernels = 1;
  values.unifiedAddressing = 1;
  values.clusterLaunch = values.major >= 9 ? 1 : 0;
  values.managedMemory = 1;
  values.concurrentManagedAccess = 1;
  values.canUseHostPointerForRegisteredMem = 1;
  values.hostRegisterSupported = 1;
  values.streamPrioritiesSupported = 1;
  values.globalL1CacheSupported = 1;
  values.localL1CacheSupported = 1;
  values.computePreemptionSupported = 1;
  values.cooperativeLaunch = 1;
  values.memoryPoolsSupported = 1;
  values.hostNumaId = -1;
  values.deviceNumaId = -1;
  return values;
}

}  // namespace opgate::simulator::devices
