// The attributes of a device. Most are properties, too.
#include <algorithm>
#include <array>
#include <climits>
#include <variant>

#include "runtime/devices/devices.h"

namespace opgate::simulator::devices {
namespace {

using Properties = cudaDeviceProp;
using Computed = int (*)(const Properties&);

struct Attribute {
  cudaDeviceAttr which;
  std::variant<int, int Properties::*, std::size_t Properties::*, Computed> value;
};

constexpr std::array kAttributes{
    Attribute{cudaDevAttrMaxThreadsPerBlock, &Properties::maxThreadsPerBlock},
    Attribute{cudaDevAttrMaxBlockDimX, [](const Properties& of) { return of.maxThreadsDim[0]; }},
    Attribute{cudaDevAttrMaxBlockDimY, [](const Properties& of) { return of.maxThreadsDim[1]; }},
    Attribute{cudaDevAttrMaxBlockDimZ, [](const Properties& of) { return of.maxThreadsDim[2]; }},
    Attribute{cudaDevAttrMaxGridDimX, [](const Properties& of) { return of.maxGridSize[0]; }},
    Attribute{cudaDevAttrMaxGridDimY, [](const Properties& of) { return of.maxGridSize[1]; }},
    Attribute{cudaDevAttrMaxGridDimZ, [](const Properties& of) { return of.maxGridSize[2]; }},
    Attribute{cudaDevAttrMaxSharedMemoryPerBlock, &Properties::sharedMemPerBlock},
    Attribute{cudaDevAttrMaxSharedMemoryPerBlockOptin, &Properties::sharedMemPerBlockOptin},
    Attribute{cudaDevAttrMaxSharedMemoryPerMultiprocessor, &Properties::sharedMemPerMultiprocessor},
    Attribute{cudaDevAttrReservedSharedMemoryPerBlock, &Properties::reservedSharedMemPerBlock},
    Attribute{cudaDevAttrTotalConstantMemory, &Properties::totalConstMem},
    Attribute{cudaDevAttrMaxPitch, &Properties::memPitch},
    Attribute{cudaDevAttrWarpSize, &Properties::warpSize},
    Attribute{cudaDevAttrMaxRegistersPerBlock, &Properties::regsPerBlock},
    Attribute{cudaDevAttrMaxRegistersPerMultiprocessor, &Properties::regsPerMultiprocessor},
    Attribute{cudaDevAttrClockRate, 1000000},
    Attribute{cudaDevAttrMemoryClockRate, 1000000},
    Attribute{cudaDevAttrGlobalMemoryBusWidth, &Properties::memoryBusWidth},
    Attribute{cudaDevAttrTextureAlignment, &Properties::textureAlignment},
    Attribute{cudaDevAttrTexturePitchAlignment, &Properties::texturePitchAlignment},
    Attribute{cudaDevAttrSurfaceAlignment, &Properties::surfaceAlignment},
    Attribute{cudaDevAttrMultiProcessorCount, &Properties::multiProcessorCount},
    Attribute{cudaDevAttrMaxThreadsPerMultiProcessor, &Properties::maxThreadsPerMultiProcessor},
    Attribute{cudaDevAttrMaxBlocksPerMultiprocessor, &Properties::maxBlocksPerMultiProcessor},
    Attribute{cudaDevAttrL2CacheSize, &Properties::l2CacheSize},
    Attribute{cudaDevAttrComputeCapabilityMajor, &Properties::major},
    Attribute{cudaDevAttrComputeCapabilityMinor, &Properties::minor},
    Attribute{cudaDevAttrPciBusId, &Properties::pciBusID},
    Attribute{cudaDevAttrAsyncEngineCount, &Properties::asyncEngineCount},
    Attribute{cudaDevAttrGpuOverlap, 1},
    Attribute{cudaDevAttrCanMapHostMemory, &Properties::canMapHostMemory},
    Attribute{cudaDevAttrConcurrentKernels, &Properties::concurrentKernels},
    Attribute{cudaDevAttrUnifiedAddressing, &Properties::unifiedAddressing},
    Attribute{cudaDevAttrStreamPrioritiesSupported, &Properties::streamPrioritiesSupported},
    Attribute{cudaDevAttrGlobalL1CacheSupported, &Properties::globalL1CacheSupported},
    Attribute{cudaDevAttrLocalL1CacheSupported, &Properties::localL1CacheSupported},
    Attribute{cudaDevAttrClusterLaunch, &Properties::clusterLaunch},
    Attribute{cudaDevAttrManagedMemory, &Properties::managedMemory},
    Attribute{cudaDevAttrConcurrentManagedAccess, &Properties::concurrentManagedAccess},
    Attribute{cudaDevAttrComputePreemptionSupported, &Properties::computePreemptionSupported},
    Attribute{cudaDevAttrCanUseHostPointerForRegisteredMem, &Properties::canUseHostPointerForRegisteredMem},
    Attribute{cudaDevAttrCooperativeLaunch, &Properties::cooperativeLaunch},
    Attribute{cudaDevAttrHostRegisterSupported, &Properties::hostRegisterSupported},
    Attribute{cudaDevAttrMemoryPoolsSupported, &Properties::memoryPoolsSupported},
    Attribute{cudaDevAttrComputeMode, int{cudaComputeModeDefault}},
    Attribute{cudaDevAttrSingleToDoublePrecisionPerfRatio, 2},
    Attribute{cudaDevAttrNumaId, &Properties::deviceNumaId},
    Attribute{cudaDevAttrHostNumaId, &Properties::hostNumaId},
    // Textures, exchange between processes and pageable memory for kernels are not simulated.
    Attribute{cudaDevAttrKernelExecTimeout, 0},
    Attribute{cudaDevAttrIntegrated, 0},
    Attribute{cudaDevAttrEccEnabled, 0},
    Attribute{cudaDevAttrPciDeviceId, 0},
    Attribute{cudaDevAttrPciDomainId, 0},
    Attribute{cudaDevAttrTccDriver, 0},
    Attribute{cudaDevAttrIsMultiGpuBoard, 0},
    Attribute{cudaDevAttrMultiGpuBoardGroupID, 0},
    Attribute{cudaDevAttrHostNativeAtomicSupported, 0},
    Attribute{cudaDevAttrPageableMemoryAccess, 0},
    Attribute{cudaDevAttrPageableMemoryAccessUsesHostPageTables, 0},
    Attribute{cudaDevAttrDirectManagedMemAccessFromHost, 0},
    Attribute{cudaDevAttrCanFlushRemoteWrites, 0},
    Attribute{cudaDevAttrMaxPersistingL2CacheSize, 0},
    Attribute{cudaDevAttrMaxAccessPolicyWindowSize, 0},
    Attribute{cudaDevAttrHostRegisterReadOnlySupported, 0},
    Attribute{cudaDevAttrSparseCudaArraySupported, 0},
    Attribute{cudaDevAttrTimelineSemaphoreInteropSupported, 0},
    Attribute{cudaDevAttrGPUDirectRDMASupported, 0},
    Attribute{cudaDevAttrMemoryPoolSupportedHandleTypes, 0},
    Attribute{cudaDevAttrDeferredMappingCudaArraySupported, 0},
    Attribute{cudaDevAttrIpcEventSupport, 0},
    Attribute{cudaDevAttrNumaConfig, 0},
    Attribute{cudaDevAttrMpsEnabled, 0},
    Attribute{cudaDevAttrD3D12CigSupported, 0},
};

// Gives the value of an attribute. A number of bytes that is too large becomes the largest one.
struct ValueIn {
  int operator()(int constant) const { return constant; }
  int operator()(int Properties::*property) const { return properties.*property; }
  int operator()(std::size_t Properties::*property) const {
    return static_cast<int>(std::min<std::size_t>(properties.*property, INT_MAX));
  }
  int operator()(Computed computed) const { return computed(properties); }
  const Properties& properties;
};

}  // namespace

std::optional<int> attribute(cudaDeviceAttr which, int device) {
  const Properties of_device = properties(device);
  const auto* const found = std::ranges::find(kAttributes, which, &Attribute::which);
  if (found == kAttributes.end()) return std::nullopt;
  return std::visit(ValueIn{of_device}, found->value);
}

}  // namespace opgate::simulator::devices
