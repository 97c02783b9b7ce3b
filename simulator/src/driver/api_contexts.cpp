// The driver's functions for devices, contexts and errors. Devices always have their primary context, and no
// other.
#include <cstdint>

#include "driver/driver_call.h"

using namespace opgate::simulator;

namespace {

CUcontext context_of(int device) {
  return reinterpret_cast<CUcontext>(static_cast<std::uintptr_t>(device) + 1);
}

int device_of(CUcontext context) { return static_cast<int>(reinterpret_cast<std::uintptr_t>(context)) - 1; }

}  // namespace

OPGATE_SIM_DRIVER_API cuInit(unsigned /*flags*/) { return CUDA_SUCCESS; }

OPGATE_SIM_DRIVER_API cuDriverGetVersion(int* version) {
  return through_runtime([&] { return cudaDriverGetVersion(version); });
}

OPGATE_SIM_DRIVER_API cuDeviceGetCount(int* count) {
  return through_runtime([&] { return cudaGetDeviceCount(count); });
}

OPGATE_SIM_DRIVER_API cuDeviceGet(CUdevice* device, int ordinal) {
  int count = 0;
  cudaGetDeviceCount(&count);
  if (ordinal < 0 || ordinal >= count) return CUDA_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CUDA_SUCCESS;
}

OPGATE_SIM_DRIVER_API cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  // The numbers are the same in both libraries.
  return through_runtime(
      [&] { return cudaDeviceGetAttribute(value, static_cast<cudaDeviceAttr>(attribute), device); });
}

OPGATE_SIM_DRIVER_API cuDevicePrimaryCtxGetState(CUdevice /*device*/, unsigned* flags, int* active) {
  *flags = 0;
  *active = 1;
  return CUDA_SUCCESS;
}

OPGATE_SIM_DRIVER_API cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  *context = context_of(device);
  return CUDA_SUCCESS;
}

OPGATE_SIM_DRIVER_API cuDevicePrimaryCtxRelease_v2(CUdevice /*device*/) { return CUDA_SUCCESS; }

OPGATE_SIM_DRIVER_API cuCtxGetCurrent(CUcontext* context) {
  *context = context_of(devices::current());
  return CUDA_SUCCESS;
}

OPGATE_SIM_DRIVER_API cuCtxSetCurrent(CUcontext context) {
  if (context == nullptr) return CUDA_SUCCESS;
  return through_runtime([&] { return cudaSetDevice(device_of(context)); });
}

OPGATE_SIM_DRIVER_API cuCtxGetDevice(CUdevice* device) {
  *device = devices::current();
  return CUDA_SUCCESS;
}

OPGATE_SIM_DRIVER_API cuCtxSynchronize() {
  return through_runtime([] { return cudaDeviceSynchronize(); });
}

OPGATE_SIM_DRIVER_API cuCtxGetLimit(std::size_t* value, CUlimit limit) {
  return through_runtime([&] { return cudaDeviceGetLimit(value, static_cast<cudaLimit>(limit)); });
}

OPGATE_SIM_DRIVER_API cuCtxSetLimit(CUlimit limit, std::size_t value) {
  return through_runtime([&] { return cudaDeviceSetLimit(static_cast<cudaLimit>(limit), value); });
}

OPGATE_SIM_DRIVER_API cuGetErrorString(CUresult error, const char** text) {
  if (text == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const auto code = static_cast<cudaError_t>(error);
  *text = driver_error_name(code) == nullptr ? nullptr : error_text(code);
  return *text == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

OPGATE_SIM_DRIVER_API cuGetErrorName(CUresult error, const char** name) {
  if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *name = driver_error_name(static_cast<cudaError_t>(error));
  return *name == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

// A driver without a log never calls back.
OPGATE_SIM_DRIVER_API cuLogsRegisterCallback(CUlogsCallback /*callback*/, void* /*data*/,
                                             CUlogsCallbackHandle* handle) {
  if (handle != nullptr) *handle = nullptr;
  return CUDA_SUCCESS;
}

OPGATE_SIM_DRIVER_API cuLogsUnregisterCallback(CUlogsCallbackHandle /*handle*/) { return CUDA_SUCCESS; }
