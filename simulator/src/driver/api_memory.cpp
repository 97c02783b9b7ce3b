// The driver's functions for pointers and streams.
#include <cuda_runtime_api.h>

#include <string>

#include "driver/driver_call.h"

using namespace opgate::simulator;

namespace {

CUresult attribute_of(void* value, CUpointer_attribute attribute, CUdeviceptr pointer) {
  cudaPointerAttributes all{};
  const CUresult status =
      through_runtime([&] { return cudaPointerGetAttributes(&all, reinterpret_cast<const void*>(pointer)); });
  if (status != CUDA_SUCCESS) return status;
  if (all.type == cudaMemoryTypeUnregistered) return CUDA_ERROR_INVALID_VALUE;
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      *static_cast<CUdeviceptr*>(value) = reinterpret_cast<CUdeviceptr>(all.devicePointer);
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      *static_cast<void**>(value) = all.hostPointer;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      *static_cast<unsigned*>(value) =
          all.type == cudaMemoryTypeHost ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      *static_cast<int*>(value) = all.device;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      *static_cast<unsigned*>(value) = all.type == cudaMemoryTypeManaged;
      return CUDA_SUCCESS;
    default:
      errors::note_unsupported("cuPointerGetAttribute(" + std::to_string(static_cast<int>(attribute)) + ")");
      return CUDA_ERROR_NOT_SUPPORTED;
  }
}

}  // namespace

OPGATE_SIM_DRIVER_API cuPointerGetAttribute(void* value, CUpointer_attribute attribute, CUdeviceptr pointer) {
  return value == nullptr ? CUDA_ERROR_INVALID_VALUE : attribute_of(value, attribute, pointer);
}

// For memory that CUDA does not know, this function alone answers with zeros.
OPGATE_SIM_DRIVER_API cuPointerGetAttributes(unsigned count, CUpointer_attribute* attributes, void** values,
                                             CUdeviceptr pointer) {
  for (unsigned i = 0; i < count; ++i) {
    const CUresult status = attribute_of(values[i], attributes[i], pointer);
    if (status == CUDA_ERROR_INVALID_VALUE && attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_POINTER) {
      *static_cast<CUdeviceptr*>(values[i]) = 0;
    } else if (status != CUDA_SUCCESS && status != CUDA_ERROR_INVALID_VALUE) {
      return status;
    }
  }
  return CUDA_SUCCESS;
}

OPGATE_SIM_DRIVER_API cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  // The numbers are the same in both libraries.
  return through_runtime(
      [&] { return cudaStreamIsCapturing(stream, reinterpret_cast<cudaStreamCaptureStatus*>(status)); });
}

OPGATE_SIM_DRIVER_API cuStreamSynchronize(CUstream stream) {
  return through_runtime([&] { return cudaStreamSynchronize(stream); });
}
