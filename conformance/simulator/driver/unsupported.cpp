// Functions of the driver that are not simulated. Programs may ask for many and call few of them: each fails when it is called,
// with its name. They have no parameters here, so that this file does not include the headers of the driver.
#include "simulator/runtime/errors.h"

namespace {

constexpr int kNotSupported = 801;

int unsupported(const char* function) {
  opgate::simulator::errors::note_unsupported(function);
  return kNotSupported;
}

// What a runtime library of CUDA that is not the simulated one asks for first: one that a library has linked statically.
int other_runtime() {
  opgate::simulator::errors::note_unsupported(
      "a CUDA runtime of a library's own (link the shared one: nvcc -cudart shared, or in CMake "
      "CMAKE_CUDA_RUNTIME_LIBRARY Shared)");
  return kNotSupported;
}

}  // namespace

#define OPGATE_SIM_OTHER_RUNTIME(name) \
  extern "C" __attribute__((visibility("default"))) int name() { return other_runtime(); }
#define OPGATE_SIM_UNSUPPORTED(name) \
  extern "C" __attribute__((visibility("default"))) int name() { return unsupported(#name); }

OPGATE_SIM_OTHER_RUNTIME(cuGetProcAddress)
OPGATE_SIM_OTHER_RUNTIME(cuGetProcAddress_v2)
OPGATE_SIM_OTHER_RUNTIME(cuGetExportTable)

OPGATE_SIM_UNSUPPORTED(cuLinkAddData_v2)
OPGATE_SIM_UNSUPPORTED(cuLinkAddFile_v2)
OPGATE_SIM_UNSUPPORTED(cuLinkComplete)
OPGATE_SIM_UNSUPPORTED(cuLinkCreate_v2)
OPGATE_SIM_UNSUPPORTED(cuLinkDestroy)
OPGATE_SIM_UNSUPPORTED(cuOccupancyMaxActiveClusters)
OPGATE_SIM_UNSUPPORTED(cuOccupancyMaxPotentialClusterSize)
OPGATE_SIM_UNSUPPORTED(cuTensorMapEncodeIm2col)
OPGATE_SIM_UNSUPPORTED(cuTensorMapEncodeTiled)
OPGATE_SIM_UNSUPPORTED(cuTensorMapReplaceAddress)

// What torch asks for, see c10/cuda/driver_api.h.
OPGATE_SIM_UNSUPPORTED(cuCtxFromGreenCtx)
OPGATE_SIM_UNSUPPORTED(cuCtxPopCurrent_v2)
OPGATE_SIM_UNSUPPORTED(cuCtxPushCurrent_v2)
OPGATE_SIM_UNSUPPORTED(cuDevResourceGenerateDesc)
OPGATE_SIM_UNSUPPORTED(cuDevSmResourceSplitByCount)
OPGATE_SIM_UNSUPPORTED(cuDeviceGetDevResource)
OPGATE_SIM_UNSUPPORTED(cuGreenCtxCreate)
OPGATE_SIM_UNSUPPORTED(cuGreenCtxDestroy)
OPGATE_SIM_UNSUPPORTED(cuGreenCtxStreamCreate)
OPGATE_SIM_UNSUPPORTED(cuMemAddressFree)
OPGATE_SIM_UNSUPPORTED(cuMemAddressReserve)
OPGATE_SIM_UNSUPPORTED(cuMemCreate)
OPGATE_SIM_UNSUPPORTED(cuMemExportToShareableHandle)
OPGATE_SIM_UNSUPPORTED(cuMemGetAddressRange_v2)
OPGATE_SIM_UNSUPPORTED(cuMemGetAllocationGranularity)
OPGATE_SIM_UNSUPPORTED(cuMemGetAllocationPropertiesFromHandle)
OPGATE_SIM_UNSUPPORTED(cuMemImportFromShareableHandle)
OPGATE_SIM_UNSUPPORTED(cuMemMap)
OPGATE_SIM_UNSUPPORTED(cuMemRelease)
OPGATE_SIM_UNSUPPORTED(cuMemRetainAllocationHandle)
OPGATE_SIM_UNSUPPORTED(cuMemSetAccess)
OPGATE_SIM_UNSUPPORTED(cuMemUnmap)
OPGATE_SIM_UNSUPPORTED(cuMemsetD32Async)
OPGATE_SIM_UNSUPPORTED(cuMulticastAddDevice)
OPGATE_SIM_UNSUPPORTED(cuMulticastBindMem)
OPGATE_SIM_UNSUPPORTED(cuMulticastCreate)
OPGATE_SIM_UNSUPPORTED(cuMulticastUnbind)
OPGATE_SIM_UNSUPPORTED(cuStreamWriteValue32_v2)
