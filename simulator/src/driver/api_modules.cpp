// The driver's functions for modules and libraries. A library is a module here: each is loaded for all
// devices.
#include <string>

#include "driver/driver_call.h"
#include "driver/modules.h"

using namespace opgate::simulator;

namespace {

template <class Handle>
CUresult load(Handle* result, const void* image, const char* function = __builtin_FUNCTION()) {
  return driver_call(
      [&](Simulator& simulator) {
        require(result);
        require(image);
        *result = reinterpret_cast<Handle>(load_module(simulator, image, "a module"));
      },
      function);
}

template <class Handle>
CUresult load_file(Handle* result, const char* file, const char* function = __builtin_FUNCTION()) {
  return driver_call(
      [&](Simulator& simulator) {
        require(result);
        require(file);
        *result = reinterpret_cast<Handle>(load_module_file(simulator, file));
      },
      function);
}

template <class Handle>
CUresult find_kernel(Handle* result, void* module, const char* name,
                     const char* function = __builtin_FUNCTION()) {
  return driver_call(
      [&](Simulator& simulator) {
        require(result);
        require(name);
        *result = reinterpret_cast<Handle>(Binaries::handle(kernel_of_module(simulator, module, name)));
      },
      function);
}

CUresult find_variable(CUdeviceptr* address, std::size_t* bytes, void* module, const char* name,
                       const char* function = __builtin_FUNCTION()) {
  return driver_call(
      [&](Simulator& simulator) {
        require(name);
        const auto [at, size] = variable_of_module(simulator, module, name);
        if (address != nullptr) *address = at;
        if (bytes != nullptr) *bytes = size;
      },
      function);
}

}  // namespace

OPGATE_SIM_DRIVER_API cuModuleLoadData(CUmodule* module, const void* image) { return load(module, image); }

// The options are those of a compiler that does not run here: registers, optimisation, and places for its
// log.
OPGATE_SIM_DRIVER_API cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned /*count*/,
                                         CUjit_option* /*options*/, void** /*values*/) {
  return load(module, image);
}

OPGATE_SIM_DRIVER_API cuModuleLoadFatBinary(CUmodule* module, const void* image) {
  return load(module, image);
}

OPGATE_SIM_DRIVER_API cuModuleLoad(CUmodule* module, const char* file) { return load_file(module, file); }

// Gives something back, and so reports no earlier fault of a kernel: programs call it while they clean up.
OPGATE_SIM_DRIVER_API cuModuleUnload(CUmodule module) {
  return driver_answer([&](Simulator& simulator) { unload_module(simulator, module); });
}

OPGATE_SIM_DRIVER_API cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  return find_kernel(function, module, name);
}

OPGATE_SIM_DRIVER_API cuModuleGetGlobal_v2(CUdeviceptr* address, std::size_t* bytes, CUmodule module,
                                           const char* name) {
  return find_variable(address, bytes, module, name);
}

OPGATE_SIM_DRIVER_API cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  *mode = CU_MODULE_LAZY_LOADING;  // bodies are read when a kernel is first launched
  return CUDA_SUCCESS;
}

OPGATE_SIM_DRIVER_API cuLibraryLoadData(CUlibrary* library, const void* image, CUjit_option* /*jit*/,
                                        void** /*jit_values*/, unsigned /*jit_count*/,
                                        CUlibraryOption* /*options*/, void** /*values*/, unsigned /*count*/) {
  return load(library, image);
}

OPGATE_SIM_DRIVER_API cuLibraryLoadFromFile(CUlibrary* library, const char* file, CUjit_option* /*jit*/,
                                            void** /*jit_values*/, unsigned /*jit_count*/,
                                            CUlibraryOption* /*options*/, void** /*values*/,
                                            unsigned /*count*/) {
  return load_file(library, file);
}

OPGATE_SIM_DRIVER_API cuLibraryUnload(CUlibrary library) {
  return driver_answer([&](Simulator& simulator) { unload_module(simulator, library); });
}

OPGATE_SIM_DRIVER_API cuLibraryGetModule(CUmodule* module, CUlibrary library) {
  *module = reinterpret_cast<CUmodule>(library);
  return CUDA_SUCCESS;
}

OPGATE_SIM_DRIVER_API cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
  return find_kernel(kernel, library, name);
}

OPGATE_SIM_DRIVER_API cuLibraryGetGlobal(CUdeviceptr* address, std::size_t* bytes, CUlibrary library,
                                         const char* name) {
  return find_variable(address, bytes, library, name);
}

OPGATE_SIM_DRIVER_API cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  *function = reinterpret_cast<CUfunction>(kernel);
  return CUDA_SUCCESS;
}
