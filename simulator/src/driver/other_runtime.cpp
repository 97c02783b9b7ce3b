// What a CUDA runtime that is not the simulated one asks for first: one that a library has linked statically,
// or that of another CUDA. It fails, and the report names the remedy.
#include <dlfcn.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "driver/driver_call.h"

using namespace opgate::simulator;

namespace {

std::filesystem::path library_of(const void* address) {
  Dl_info library{};
  if (dladdr(address, &library) == 0 || library.dli_fname == nullptr) return {};
  return library.dli_fname;
}

// Nothing that the program goes on to compute would be simulated.
[[noreturn]] void end_with_other_version(const std::filesystem::path& runtime) {
  constexpr int kWrongSetUp = 2;
  errors::note_unsupported(runtime.string() +
                           " (the runtimes of CUDA 12 and 13 are: build the program for one of them)");
  _exit(kWrongSetUp);
}

CUresult other_runtime(const void* caller) {
  const std::filesystem::path library = library_of(caller);
  const std::string name = library.filename().string();
  // NVRTC asks for functions of the driver while it compiles, and does without them.
  if (name.starts_with("libnvrtc")) return CUDA_ERROR_NOT_SUPPORTED;
  if (name.starts_with("libcudart.so.")) end_with_other_version(library);
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
