// Errors and versions.
#include "runtime/api/api.h"

using namespace opgate::simulator;

OPGATE_SIM_API cudaError_t cudaGetLastError() { return errors::take(); }

OPGATE_SIM_API cudaError_t cudaPeekAtLastError() { return errors::peek(); }

OPGATE_SIM_API const char* cudaGetErrorName(cudaError_t code) { return error_name(code); }

OPGATE_SIM_API const char* cudaGetErrorString(cudaError_t code) { return error_text(code); }

// The version whose headers this runtime was compiled with.
OPGATE_SIM_API cudaError_t cudaRuntimeGetVersion(int* version) {
  return api_answer(give(version, [&] { return CUDART_VERSION; }));
}

OPGATE_SIM_API cudaError_t cudaDriverGetVersion(int* version) { return cudaRuntimeGetVersion(version); }
