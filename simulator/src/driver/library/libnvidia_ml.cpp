// libnvidia-ml.so.1, as far as torch asks it how many devices there are. torch.cuda.device_count() does so
// first, and torch.cuda.is_available() where PYTORCH_NVML_BASED_CUDA_CHECK=1: on a GPU, a process that has
// asked the driver could use no device after a fork.
#include <cuda_runtime_api.h>

#define OPGATE_SIM_API extern "C" __attribute__((visibility("default")))

// The declarations of nvml.h are used by nothing else, and its results are 0 for success.
OPGATE_SIM_API int nvmlInit() { return 0; }
OPGATE_SIM_API int nvmlInit_v2() { return 0; }
OPGATE_SIM_API int nvmlShutdown() { return 0; }

OPGATE_SIM_API int nvmlDeviceGetCount_v2(unsigned* count) {
  constexpr int kUnknownError = 999;
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess) return kUnknownError;
  *count = static_cast<unsigned>(devices);
  return 0;
}
