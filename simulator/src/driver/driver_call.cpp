#include "driver/driver_call.h"

namespace opgate::simulator {

CUresult driver_error(cudaError_t code) {
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

}  // namespace opgate::simulator
