// What every function of the driver has in common: the lock, the errors, and that its symbol is exported.
#pragma once

#include <cuda.h>

#include "runtime/api/api.h"

// The headers give some functions a name with a suffix: their symbols are what libraries link.
#define OPGATE_SIM_DRIVER_API extern "C" __attribute__((visibility("default"))) CUresult

namespace opgate::simulator {

/// The driver's number for an error of the runtime. Most are the same.
inline CUresult driver_error(cudaError_t code) {
  switch (code) {
    case cudaErrorInvalidDeviceFunction:
      return CUDA_ERROR_INVALID_HANDLE;
    case cudaErrorInvalidSymbol:
      return CUDA_ERROR_NOT_FOUND;
    case cudaErrorInvalidConfiguration:
      return CUDA_ERROR_INVALID_VALUE;
    default:
      return static_cast<CUresult>(code);
  }
}

/// Runs the body of a function, as api_answer() does for those of the runtime. The driver keeps no last
/// error.
template <class Body>
CUresult driver_answer(Body&& body, const char* function = __builtin_FUNCTION()) {
  try {
    const HostCall call;
    std::forward<Body>(body)(simulator());
    return CUDA_SUCCESS;
  } catch (const Refusal& refusal) {
    errors::report_refusal(function, refusal);
    return driver_error(refusal.code());
  } catch (const std::bad_alloc&) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
}

/// The same for functions that fail at once after a fault of a kernel, and in a function that the driver
/// calls.
template <class Body>
CUresult driver_call(Body&& body, const char* function = __builtin_FUNCTION()) {
  if (const cudaError_t fault = errors::told_sticky(); fault != cudaSuccess) return driver_error(fault);
  if (Execution::in_host_call()) return CUDA_ERROR_NOT_PERMITTED;
  const CUresult status = driver_answer(std::forward<Body>(body), function);
  // The call may have waited for a kernel that faulted.
  const cudaError_t fault = errors::told_sticky();
  return fault != cudaSuccess ? driver_error(fault) : status;
}

/// Calls a function of the runtime that does what the driver's one does, without a trace in the runtime's
/// last error.
template <class Function>
CUresult through_runtime(Function&& function) {
  const cudaError_t before = errors::peek();
  const cudaError_t status = std::forward<Function>(function)();
  if (status != cudaSuccess && before == cudaSuccess) errors::take();
  return driver_error(status);
}

}  // namespace opgate::simulator
