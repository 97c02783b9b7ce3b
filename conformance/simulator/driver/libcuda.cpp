// libcuda.so.1 for machines without a driver, as far as torch's libraries link it. Devices always have their primary context.
// Kernels that are compiled while the program runs need a driver that loads them, and are refused.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <cstdint>

#define OPGATE_SIM_API extern "C" __attribute__((visibility("default")))

namespace {

CUcontext context_of(int device) {
  return reinterpret_cast<CUcontext>(static_cast<std::uintptr_t>(device) + 1);
}

// The runtime is loaded before this library, which does not link it.
void note_unsupported(const char* what) {
  static const auto note =
      reinterpret_cast<void (*)(const char*)>(dlsym(RTLD_DEFAULT, "opgate_sim_note_unsupported"));
  if (note != nullptr) note(what);
}

CUresult unsupported(const char* function) {
  note_unsupported(function);
  return CUDA_ERROR_NOT_SUPPORTED;
}

}  // namespace

OPGATE_SIM_API CUresult cuInit(unsigned /*flags*/) { return CUDA_SUCCESS; }

OPGATE_SIM_API CUresult cuDriverGetVersion(int* version) {
  return static_cast<CUresult>(cudaDriverGetVersion(version));
}

OPGATE_SIM_API CUresult cuDeviceGetCount(int* count) {
  return static_cast<CUresult>(cudaGetDeviceCount(count));
}

OPGATE_SIM_API CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  int count = 0;
  cudaGetDeviceCount(&count);
  if (ordinal < 0 || ordinal >= count) return CUDA_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CUDA_SUCCESS;
}

OPGATE_SIM_API CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  // The numbers are the same in both libraries.
  return static_cast<CUresult>(cudaDeviceGetAttribute(value, static_cast<cudaDeviceAttr>(attribute), device));
}

OPGATE_SIM_API CUresult cuDevicePrimaryCtxGetState(CUdevice /*device*/, unsigned* flags, int* active) {
  *flags = 0;
  *active = 1;
  return CUDA_SUCCESS;
}

OPGATE_SIM_API CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  *context = context_of(device);
  return CUDA_SUCCESS;
}

OPGATE_SIM_API CUresult cuCtxGetCurrent(CUcontext* context) {
  int device = 0;
  cudaGetDevice(&device);
  *context = context_of(device);
  return CUDA_SUCCESS;
}

OPGATE_SIM_API CUresult cuCtxSetCurrent(CUcontext context) {
  if (context == nullptr) return CUDA_SUCCESS;
  const auto device = static_cast<int>(reinterpret_cast<std::uintptr_t>(context)) - 1;
  return static_cast<CUresult>(cudaSetDevice(device));
}

OPGATE_SIM_API CUresult cuGetErrorString(CUresult error, const char** text) {
  *text = cudaGetErrorString(static_cast<cudaError_t>(error));
  return CUDA_SUCCESS;
}

OPGATE_SIM_API CUresult cuGetErrorName(CUresult error, const char** name) {
  *name = cudaGetErrorName(static_cast<cudaError_t>(error));
  return CUDA_SUCCESS;
}

// A runtime library of CUDA that is not the simulated one asks for these first: one that a library has linked statically.
#define OPGATE_SIM_OTHER_RUNTIME(name, symbol)                                                      \
  extern "C" __attribute__((visibility("default"))) CUresult opgate_##name() __asm__(symbol);       \
  extern "C" CUresult opgate_##name() {                                                             \
    note_unsupported(                                                                               \
        "a CUDA runtime of a library's own (link the shared one: nvcc -cudart shared, or in CMake " \
        "CMAKE_CUDA_RUNTIME_LIBRARY Shared)");                                                      \
    return CUDA_ERROR_NOT_SUPPORTED;                                                                \
  }

OPGATE_SIM_OTHER_RUNTIME(proc_address, "cuGetProcAddress")
OPGATE_SIM_OTHER_RUNTIME(proc_address_v2, "cuGetProcAddress_v2")
OPGATE_SIM_OTHER_RUNTIME(export_table, "cuGetExportTable")

// The headers give some of these names a suffix; the library's symbols are what torch links.
#define OPGATE_SIM_UNSUPPORTED(name, symbol)                                                  \
  extern "C" __attribute__((visibility("default"))) CUresult opgate_##name() __asm__(symbol); \
  extern "C" CUresult opgate_##name() { return unsupported(symbol); }

OPGATE_SIM_UNSUPPORTED(function_attribute, "cuFuncGetAttribute")
OPGATE_SIM_UNSUPPORTED(set_function_attribute, "cuFuncSetAttribute")
OPGATE_SIM_UNSUPPORTED(set_cache, "cuFuncSetCacheConfig")
OPGATE_SIM_UNSUPPORTED(launch_cooperative, "cuLaunchCooperativeKernel")
OPGATE_SIM_UNSUPPORTED(launch, "cuLaunchKernel")
OPGATE_SIM_UNSUPPORTED(link_add, "cuLinkAddData_v2")
OPGATE_SIM_UNSUPPORTED(link_complete, "cuLinkComplete")
OPGATE_SIM_UNSUPPORTED(link_create, "cuLinkCreate_v2")
OPGATE_SIM_UNSUPPORTED(module_function, "cuModuleGetFunction")
OPGATE_SIM_UNSUPPORTED(module_load, "cuModuleLoad")
OPGATE_SIM_UNSUPPORTED(module_load_data, "cuModuleLoadData")
OPGATE_SIM_UNSUPPORTED(module_load_data_with_options, "cuModuleLoadDataEx")
OPGATE_SIM_UNSUPPORTED(module_unload, "cuModuleUnload")
OPGATE_SIM_UNSUPPORTED(occupancy, "cuOccupancyMaxActiveBlocksPerMultiprocessor")
OPGATE_SIM_UNSUPPORTED(pointer_attribute, "cuPointerGetAttribute")
OPGATE_SIM_UNSUPPORTED(encode_tensor_map, "cuTensorMapEncodeTiled")
