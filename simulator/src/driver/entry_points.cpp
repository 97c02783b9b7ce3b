// The function of the runtime that gives programs those of the driver by their names.
#include <dlfcn.h>

#include <cctype>
#include <string>

#include "runtime/api/api.h"
#include "runtime/findings/report.h"

using namespace opgate::simulator;

namespace {

// The library, or the program, that this code is in: another libcuda.so.1 may be loaded, too.
void* own_library() {
  Dl_info where{};
  if (dladdr(reinterpret_cast<void*>(&own_library), &where) == 0) return RTLD_DEFAULT;
  void* const library = dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  return library != nullptr ? library : dlopen(nullptr, RTLD_LAZY);
}

// A name may stand for a later version of the function, whose symbol has a suffix. Null for a name that is
// not known.
void* driver_function(const std::string& name) {
  static void* const library = own_library();
  if (!name.starts_with("cu") || name.size() < 3 || std::isupper(static_cast<unsigned char>(name[2])) == 0)
    return nullptr;
  void* const function = dlsym(library, name.c_str());
  return function != nullptr ? function : dlsym(library, (name + "_v2").c_str());
}

}  // namespace

OPGATE_SIM_API cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function,
                                                            unsigned /*version*/,
                                                            unsigned long long /*flags*/,
                                                            cudaDriverEntryPointQueryResult* status) {
  return api_answer([&](Simulator&) {
    require(name);
    require(function);
    *function = driver_function(name);
    if (*function == nullptr) report_unsupported(name);
    if (status != nullptr)
      *status = *function != nullptr ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  });
}

// Programs for CUDA 12 call it; the header of CUDA 13 declares the function above alone.
OPGATE_SIM_API cudaError_t cudaGetDriverEntryPoint(const char* name, void** function,
                                                   unsigned long long flags,
                                                   cudaDriverEntryPointQueryResult* status) {
  return cudaGetDriverEntryPointByVersion(name, function, 0, flags, status);
}
