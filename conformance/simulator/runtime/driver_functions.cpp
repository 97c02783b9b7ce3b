#include "simulator/runtime/driver_functions.h"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <map>

#include "simulator/runtime/devices.h"
#include "simulator/runtime/report.h"

namespace opgate::simulator {
namespace driver {

// Which context is current makes no difference: every device always has its primary one.
CUresult get_context(CUcontext* context) {
  *context = reinterpret_cast<CUcontext>(static_cast<std::uintptr_t>(devices::current()) + 1);
  return CUDA_SUCCESS;
}

CUresult set_context(CUcontext context) {
  if (context == nullptr) return CUDA_SUCCESS;
  const cudaError_t status = cudaSetDevice(static_cast<int>(reinterpret_cast<std::uintptr_t>(context)) - 1);
  return static_cast<CUresult>(status);
}

CUresult get_device(CUdevice* device, int ordinal) {
  int count = 0;
  cudaGetDeviceCount(&count);
  if (ordinal < 0 || ordinal >= count) return CUDA_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CUDA_SUCCESS;
}

// The numbers of attributes and of most errors are the same as in the runtime.
CUresult get_attribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  return static_cast<CUresult>(cudaDeviceGetAttribute(value, static_cast<cudaDeviceAttr>(attribute), device));
}

CUresult get_error_text(CUresult error, const char** text) {
  *text = cudaGetErrorString(static_cast<cudaError_t>(error));
  return CUDA_SUCCESS;
}

// A driver without a log never calls back.
CUresult register_log(CUlogsCallback /*callback*/, void* /*data*/, CUlogsCallbackHandle* handle) {
  if (handle != nullptr) *handle = nullptr;
  return CUDA_SUCCESS;
}

CUresult unregister_log(CUlogsCallbackHandle /*handle*/) { return CUDA_SUCCESS; }

// One function for each name, so that it can say which one was called.
template <std::size_t size>
struct Name {
  char text[size];  // NOLINT(modernize-avoid-c-arrays): initialised from a literal
  constexpr Name(const char (&literal)[size]) {  // NOLINT
    for (std::size_t i = 0; i < size; ++i) text[i] = literal[i];
  }
};

template <Name name>
CUresult unsupported() {
  report_unsupported(name.text);
  return CUDA_ERROR_NOT_SUPPORTED;
}

template <class Function>
void* address(Function* function) {
  return reinterpret_cast<void*>(function);
}

template <Name... names>
void add_unsupported(std::map<std::string, void*>& functions) {
  (functions.emplace(names.text, address(&unsupported<names>)), ...);
}

std::map<std::string, void*> all() {
  std::map<std::string, void*> functions{
      {"cuCtxGetCurrent", address(&get_context)},
      {"cuCtxSetCurrent", address(&set_context)},
      {"cuDeviceGet", address(&get_device)},
      {"cuDeviceGetAttribute", address(&get_attribute)},
      {"cuGetErrorString", address(&get_error_text)},
      {"cuLogsRegisterCallback", address(&register_log)},
      {"cuLogsUnregisterCallback", address(&unregister_log)},
  };
  // What torch asks for, see c10/cuda/driver_api.h.
  add_unsupported<"cuCtxFromGreenCtx", "cuCtxPopCurrent", "cuCtxPushCurrent", "cuDevResourceGenerateDesc",
                  "cuDevSmResourceSplitByCount", "cuDeviceGetDevResource", "cuGreenCtxCreate",
                  "cuGreenCtxDestroy", "cuGreenCtxStreamCreate", "cuMemAddressFree", "cuMemAddressReserve",
                  "cuMemCreate", "cuMemExportToShareableHandle", "cuMemGetAddressRange",
                  "cuMemGetAllocationGranularity", "cuMemGetAllocationPropertiesFromHandle",
                  "cuMemImportFromShareableHandle", "cuMemMap", "cuMemRelease", "cuMemRetainAllocationHandle",
                  "cuMemSetAccess", "cuMemUnmap", "cuMemsetD32Async", "cuMulticastAddDevice",
                  "cuMulticastBindMem", "cuMulticastCreate", "cuMulticastUnbind", "cuStreamWriteValue32">(
      functions);
  return functions;
}

}  // namespace driver

void* driver_function(const std::string& name) {
  static const auto* const functions = new std::map<std::string, void*>(driver::all());
  const auto found = functions->find(name);
  return found == functions->end() ? nullptr : found->second;
}

}  // namespace opgate::simulator
