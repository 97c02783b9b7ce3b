// What a CUDA runtime that is not the simulated one asks for first: one that a library has linked statically.
// It fails, and the report names the remedy.
#include <dlfcn.h>

#include <filesystem>
#include <string>

#include "driver/driver_call.h"

using namespace opgate::simulator;

namespace {

// NVRTC asks for functions of the driver while it compiles, and does without them.
bool is_of_nvrtc(const void* address) {
  Dl_info library{};
  return dladdr(address, &library) != 0 && library.dli_fname != nullptr &&
         std::filesystem::path(library.dli_fname).filename().string().starts_with("libnvrtc");
}

CUresult other_runtime(const void* caller) {
  if (is_of_nvrtc(caller)) return CUDA_ERROR_NOT_SUPPORTED;
  errors::note_unsupported(
      "a CUDA runtime of a library's own (link the shared one: nvcc -cudart shared, or in CMake "
      "CMAKE_CUDA_RUNTIME_LIBRARY Shared)");
  return CUDA_ERROR_NOT_SUPPORTED;
}

}  // namespace

OPGATE_SIM_DRIVER_API cuGetProcAddress_v2(const char* /*name*/, void** /*function*/, int /*version*/,
                                          cuuint64_t /*flags*/, CUdriverProcAddressQueryResult* /*status*/) {
  return other_runtime(__builtin_return_address(0));
}

// The headers give this name to the function above.
#undef cuGetProcAddress
OPGATE_SIM_DRIVER_API cuGetProcAddress(const char* /*name*/, void** /*function*/, int /*version*/,
                                       cuuint64_t /*flags*/) {
  return other_runtime(__builtin_return_address(0));
}

OPGATE_SIM_DRIVER_API cuGetExportTable(const void** /*table*/, const CUuuid* /*id*/) {
  return other_runtime(__builtin_return_address(0));
}
