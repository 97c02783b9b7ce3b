// How every CUDA kernel of this library is launched: grid-stride loops over 64-bit indices.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

namespace opgate_ops {

inline constexpr int kThreads = 256;  // threads in a block
inline constexpr int kWarp = 32;
// About four waves of blocks on the largest GPUs. The grid-stride loops let them handle any number of
// elements.
inline constexpr int64_t kMaxBlocks = 4096;

/// The number of blocks of kThreads threads for `work` items, at least 1; each thread then steps by
/// index_step().
inline int blocks_for(int64_t work) {
  return static_cast<int>(std::clamp<int64_t>((work + kThreads - 1) / kThreads, 1, kMaxBlocks));
}

// The first index of this thread and the step to its next one, in 64 bits: blockIdx.x * blockDim.x
// alone wraps at 2^32.
inline __device__ int64_t first_index() { return int64_t{blockIdx.x} * blockDim.x + threadIdx.x; }
inline __device__ int64_t index_step() { return int64_t{gridDim.x} * blockDim.x; }

}  // namespace opgate_ops
