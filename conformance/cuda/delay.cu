#include <c10/cuda/CUDAException.h>

#include "cuda/delay.h"

namespace opgate {
namespace {

// Runs in a single thread, so that other kernels can run at the same time.
__global__ void spin(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}

}  // namespace

void launch_delay(int64_t cycles, cudaStream_t stream) {
  spin<<<1, 1, 0, stream>>>(cycles);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

}  // namespace opgate
