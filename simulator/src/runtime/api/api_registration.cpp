// What the host code that nvcc writes calls when a library is loaded, and before each launch. These functions
// are declared in crt/host_runtime.h only, and several return nothing, so that a mistake can only be
// reported.
#include <vector_types.h>

#include <vector>

#include "runtime/api/api.h"
#include "runtime/findings/report.h"

using namespace opgate::simulator;

namespace {

struct FatBinaryWrapper {
  int magic;
  int version;
  const unsigned char* data;
  void* file_name;
};

struct CallConfiguration {
  dim3 grid;
  dim3 block;
  std::size_t dynamic_shared = 0;
  cudaStream_t stream = nullptr;
};

// `<<<...>>>` pushes its values before the arguments of the kernel are computed, which may launch other
// kernels.
thread_local std::vector<CallConfiguration> configurations;

DeviceBinary* binary_of(void** handle) { return reinterpret_cast<DeviceBinary*>(handle); }

// The device is not touched: a process may load a library, and use devices in a child process only.
template <class Body>
void change_registrations(Body&& body) {
  const std::lock_guard lock(simulator_mutex());
  try {
    std::forward<Body>(body)(registered_binaries());
  } catch (const Refusal&) {
    report_notice("a library registers device code of a fat binary that is not registered");
  }
}

}  // namespace

OPGATE_SIM_API void** __cudaRegisterFatBinary(void* wrapper) {
  DeviceBinary* binary = nullptr;
  change_registrations([&](Binaries& binaries) {
    const auto* const described = static_cast<const FatBinaryWrapper*>(wrapper);
    binary = binaries.add(described->data, wrapper);
  });
  return reinterpret_cast<void**>(binary);
}

OPGATE_SIM_API void __cudaRegisterFatBinaryEnd(void** /*handle*/) {}

OPGATE_SIM_API void __cudaUnregisterFatBinary(void** handle) {
  change_registrations([&](Binaries& binaries) { binaries.remove(binary_of(handle)); });
}

OPGATE_SIM_API void __cudaRegisterFunction(void** handle, const char* host_function,
                                           char* /*device_function*/, const char* name, int /*thread_limit*/,
                                           uint3* /*thread*/, uint3* /*block*/, dim3* /*block_size*/,
                                           dim3* /*grid_size*/, int* /*warp_size*/) {
  change_registrations(
      [&](Binaries& binaries) { binaries.add_kernel(binary_of(handle), host_function, name); });
}

OPGATE_SIM_API void __cudaRegisterVar(void** handle, char* host_variable, char* /*device_address*/,
                                      const char* name, int /*external*/, std::size_t /*bytes*/,
                                      int /*constant*/, int /*global*/) {
  change_registrations(
      [&](Binaries& binaries) { binaries.add_variable(binary_of(handle), host_variable, name); });
}

OPGATE_SIM_API void __cudaRegisterManagedVar(void** /*handle*/, void** /*host_variable*/,
                                             char* /*device_address*/, const char* name, int /*external*/,
                                             std::size_t /*bytes*/, int /*constant*/, int /*global*/) {
  errors::note_unsupported(std::string("the __managed__ variable ") + name);
}

OPGATE_SIM_API char __cudaInitModule(void** /*handle*/) { return 1; }

OPGATE_SIM_API unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t dynamic_shared,
                                                    CUstream_st* stream) {
  configurations.push_back({grid, block, dynamic_shared, stream});
  return 0;
}

OPGATE_SIM_API cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* dynamic_shared,
                                                      void* stream) {
  if (configurations.empty()) return errors::keep(cudaErrorMissingConfiguration);
  const CallConfiguration configuration = configurations.back();
  configurations.pop_back();
  *grid = configuration.grid;
  *block = configuration.block;
  *dynamic_shared = configuration.dynamic_shared;
  *static_cast<cudaStream_t*>(stream) = configuration.stream;
  return cudaSuccess;
}
