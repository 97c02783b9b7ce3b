// Structures of CUDA 12 that have another layout in CUDA 13. The headers of both cannot be included together:
// fixtures/cuda12/program.cu, which is compiled with those of CUDA 12, compares these with them.
#pragma once

#include <driver_types.h>

#include <cstddef>

namespace opgate::simulator::cuda12 {

// The fields of cudaDeviceProp in their order. BOTH: CUDA 13 has it as well; REMOVED: it has not, but
// an attribute of the device still gives it.
#define OPGATE_SIM_CUDA12_PROPERTIES(BOTH, REMOVED)                                      \
  BOTH(char, name, [256])                                                                \
  BOTH(cudaUUID_t, uuid, )                                                               \
  BOTH(char, luid, [8])                                                                  \
  BOTH(unsigned, luidDeviceNodeMask, )                                                   \
  BOTH(std::size_t, totalGlobalMem, )                                                    \
  BOTH(std::size_t, sharedMemPerBlock, )                                                 \
  BOTH(int, regsPerBlock, )                                                              \
  BOTH(int, warpSize, )                                                                  \
  BOTH(std::size_t, memPitch, )                                                          \
  BOTH(int, maxThreadsPerBlock, )                                                        \
  BOTH(int, maxThreadsDim, [3])                                                          \
  BOTH(int, maxGridSize, [3])                                                            \
  REMOVED(clockRate, cudaDevAttrClockRate)                                               \
  BOTH(std::size_t, totalConstMem, )                                                     \
  BOTH(int, major, )                                                                     \
  BOTH(int, minor, )                                                                     \
  BOTH(std::size_t, textureAlignment, )                                                  \
  BOTH(std::size_t, texturePitchAlignment, )                                             \
  REMOVED(deviceOverlap, cudaDevAttrGpuOverlap)                                          \
  BOTH(int, multiProcessorCount, )                                                       \
  REMOVED(kernelExecTimeoutEnabled, cudaDevAttrKernelExecTimeout)                        \
  BOTH(int, integrated, )                                                                \
  BOTH(int, canMapHostMemory, )                                                          \
  REMOVED(computeMode, cudaDevAttrComputeMode)                                           \
  BOTH(int, maxTexture1D, )                                                              \
  BOTH(int, maxTexture1DMipmap, )                                                        \
  REMOVED(maxTexture1DLinear, cudaDevAttrMaxTexture1DLinearWidth)                        \
  BOTH(int, maxTexture2D, [2])                                                           \
  BOTH(int, maxTexture2DMipmap, [2])                                                     \
  BOTH(int, maxTexture2DLinear, [3])                                                     \
  BOTH(int, maxTexture2DGather, [2])                                                     \
  BOTH(int, maxTexture3D, [3])                                                           \
  BOTH(int, maxTexture3DAlt, [3])                                                        \
  BOTH(int, maxTextureCubemap, )                                                         \
  BOTH(int, maxTexture1DLayered, [2])                                                    \
  BOTH(int, maxTexture2DLayered, [3])                                                    \
  BOTH(int, maxTextureCubemapLayered, [2])                                               \
  BOTH(int, maxSurface1D, )                                                              \
  BOTH(int, maxSurface2D, [2])                                                           \
  BOTH(int, maxSurface3D, [3])                                                           \
  BOTH(int, maxSurface1DLayered, [2])                                                    \
  BOTH(int, maxSurface2DLayered, [3])                                                    \
  BOTH(int, maxSurfaceCubemap, )                                                         \
  BOTH(int, maxSurfaceCubemapLayered, [2])                                               \
  BOTH(std::size_t, surfaceAlignment, )                                                  \
  BOTH(int, concurrentKernels, )                                                         \
  BOTH(int, ECCEnabled, )                                                                \
  BOTH(int, pciBusID, )                                                                  \
  BOTH(int, pciDeviceID, )                                                               \
  BOTH(int, pciDomainID, )                                                               \
  BOTH(int, tccDriver, )                                                                 \
  BOTH(int, asyncEngineCount, )                                                          \
  BOTH(int, unifiedAddressing, )                                                         \
  REMOVED(memoryClockRate, cudaDevAttrMemoryClockRate)                                   \
  BOTH(int, memoryBusWidth, )                                                            \
  BOTH(int, l2CacheSize, )                                                               \
  BOTH(int, persistingL2CacheMaxSize, )                                                  \
  BOTH(int, maxThreadsPerMultiProcessor, )                                               \
  BOTH(int, streamPrioritiesSupported, )                                                 \
  BOTH(int, globalL1CacheSupported, )                                                    \
  BOTH(int, localL1CacheSupported, )                                                     \
  BOTH(std::size_t, sharedMemPerMultiprocessor, )                                        \
  BOTH(int, regsPerMultiprocessor, )                                                     \
  BOTH(int, managedMemory, )                                                             \
  BOTH(int, isMultiGpuBoard, )                                                           \
  BOTH(int, multiGpuBoardGroupID, )                                                      \
  BOTH(int, hostNativeAtomicSupported, )                                                 \
  REMOVED(singleToDoublePrecisionPerfRatio, cudaDevAttrSingleToDoublePrecisionPerfRatio) \
  BOTH(int, pageableMemoryAccess, )                                                      \
  BOTH(int, concurrentManagedAccess, )                                                   \
  BOTH(int, computePreemptionSupported, )                                                \
  BOTH(int, canUseHostPointerForRegisteredMem, )                                         \
  BOTH(int, cooperativeLaunch, )                                                         \
  REMOVED(cooperativeMultiDeviceLaunch, cudaDevAttrReserved96)                           \
  BOTH(std::size_t, sharedMemPerBlockOptin, )                                            \
  BOTH(int, pageableMemoryAccessUsesHostPageTables, )                                    \
  BOTH(int, directManagedMemAccessFromHost, )                                            \
  BOTH(int, maxBlocksPerMultiProcessor, )                                                \
  BOTH(int, accessPolicyMaxWindowSize, )                                                 \
  BOTH(std::size_t, reservedSharedMemPerBlock, )                                         \
  BOTH(int, hostRegisterSupported, )                                                     \
  BOTH(int, sparseCudaArraySupported, )                                                  \
  BOTH(int, hostRegisterReadOnlySupported, )                                             \
  BOTH(int, timelineSemaphoreInteropSupported, )                                         \
  BOTH(int, memoryPoolsSupported, )                                                      \
  BOTH(int, gpuDirectRDMASupported, )                                                    \
  BOTH(unsigned, gpuDirectRDMAFlushWritesOptions, )                                      \
  BOTH(int, gpuDirectRDMAWritesOrdering, )                                               \
  BOTH(unsigned, memoryPoolSupportedHandleTypes, )                                       \
  BOTH(int, deferredMappingCudaArraySupported, )                                         \
  BOTH(int, ipcEventSupported, )                                                         \
  BOTH(int, clusterLaunch, )                                                             \
  BOTH(int, unifiedFunctionPointers, )

struct DeviceProperties {
#define OPGATE_SIM_BOTH(type, field, extent) type field extent;
#define OPGATE_SIM_REMOVED(field, which) int field;
  OPGATE_SIM_CUDA12_PROPERTIES(OPGATE_SIM_BOTH, OPGATE_SIM_REMOVED)
#undef OPGATE_SIM_BOTH
#undef OPGATE_SIM_REMOVED
  int reserved[63];
};
static_assert(sizeof(DeviceProperties) == 1032);

/// cudaPointerAttributes: CUDA 13 appends reserved words.
struct PointerAttributes {
  cudaMemoryType type;
  int device;
  void* device_pointer;
  void* host_pointer;
};

/// The bytes of cudaResourceDesc: CUDA 13 makes its union larger, and appends flags.
constexpr std::size_t kBytesOfResource = 64;

}  // namespace opgate::simulator::cuda12
