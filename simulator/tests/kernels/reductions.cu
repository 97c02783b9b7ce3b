// nvcc -ptx -arch=sm_80
// Reductions with a mistake, and their right twins.
// Tree reduction.
template <bool right>
__device__ void tree(float* out, const float* in) {
  __shared__ float s[256];
  const unsigned t = threadIdx.x;
  s[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
#pragma unroll 1
  for (unsigned k = 128; k > 0; k >>= 1) {
    if (t < k) s[t] += s[t + k];
    if (right) __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
extern "C" __global__ void tree_right(float* out, const float* in) { tree<true>(out, in); }
extern "C" __global__ void tree_wrong(float* out, const float* in) { tree<false>(out, in); }

// The last steps in one warp, through volatile shared memory.
template <bool right>
__device__ void warp_tail(float* out, const float* in) {
  __shared__ volatile float s[64];
  const unsigned t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  if (t < 32) {
    float v = s[t];
#pragma unroll 1
    for (unsigned k = 32; k > 0; k >>= 1) {
      v += s[t + k];
      if (right) __syncwarp();
      s[t] = v;
      if (right) __syncwarp();
    }
    if (t == 0) *out = v;
  }
}
extern "C" __global__ void warp_right(float* out, const float* in) { warp_tail<true>(out, in); }
extern "C" __global__ void warp_wrong(float* out, const float* in) { warp_tail<false>(out, in); }

// The last block adds what all blocks have written.
__device__ unsigned finished = 0;
template <bool right>
__device__ void last_block(float* out, const float* in, float* partial) {
  __shared__ float s[64];
  __shared__ bool is_last;
  const unsigned t = threadIdx.x;
  s[t] = in[blockIdx.x * 64 + t];
  __syncthreads();
#pragma unroll 1
  for (unsigned k = 32; k > 0; k >>= 1) {
    if (t < k) s[t] += s[t + k];
    __syncthreads();
  }
  if (t == 0) {
    partial[blockIdx.x] = s[0];
    if (right) __threadfence();
    is_last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (is_last) {
    s[t] = t < gridDim.x ? partial[t] : 0;
    __syncthreads();
#pragma unroll 1
    for (unsigned k = 32; k > 0; k >>= 1) {
      if (t < k) s[t] += s[t + k];
      __syncthreads();
    }
    if (t == 0) *out = s[0];
  }
}
extern "C" __global__ void last_right(float* out, const float* in, float* partial) {
  last_block<true>(out, in, partial);
}
extern "C" __global__ void last_wrong(float* out, const float* in, float* partial) {
  last_block<false>(out, in, partial);
}
