// nvcc -ptx -arch=sm_80
// Kernels with a mistake, and their right twins.
// A histogram: counted with and without atomic additions, and read with and without a barrier.
extern "C" __global__ void histogram_right(unsigned* out, const unsigned* in) {
  __shared__ unsigned s[32];
  if (threadIdx.x < 32) s[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&s[in[threadIdx.x] & 31], 1u);
  __syncthreads();
  if (threadIdx.x < 32) atomicAdd(&out[threadIdx.x], s[threadIdx.x]);
}
extern "C" __global__ void histogram_no_atomic(unsigned* out, const unsigned* in) {
  __shared__ unsigned s[32];
  if (threadIdx.x < 32) s[threadIdx.x] = 0;
  __syncthreads();
  s[in[threadIdx.x] & 31] += 1;
  __syncthreads();
  if (threadIdx.x < 32) atomicAdd(&out[threadIdx.x], s[threadIdx.x]);
}
extern "C" __global__ void histogram_no_barrier(unsigned* out, const unsigned* in) {
  __shared__ unsigned s[32];
  if (threadIdx.x < 32) s[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&s[in[threadIdx.x] & 31], 1u);
  if (threadIdx.x < 32) atomicAdd(&out[threadIdx.x], s[threadIdx.x]);
}
extern "C" __global__ void histogram_not_cleared(unsigned* out, const unsigned* in) {
  __shared__ unsigned s[32];
  atomicAdd(&s[in[threadIdx.x] & 31], 1u);
  __syncthreads();
  if (threadIdx.x < 32) atomicAdd(&out[threadIdx.x], s[threadIdx.x]);
}

// A scan in two buffers (Harris, Sengupta, Owens: Parallel prefix sum with CUDA, 2007), and in one buffer.
template <bool right>
__device__ void scan(float* out, const float* in) {
  __shared__ float s[2][128];
  const unsigned t = threadIdx.x;
  unsigned to = 0;
  s[0][t] = in[t];
  __syncthreads();
#pragma unroll 1
  for (unsigned k = 1; k < 128; k <<= 1) {
    const unsigned from = to;
    if (right) to = 1 - to;
    const float v = s[from][t];
    s[to][t] = t >= k ? v + s[from][t - k] : v;
    __syncthreads();
  }
  out[t] = s[to][t];
}
extern "C" __global__ void scan_right(float* out, const float* in) { scan<true>(out, in); }
extern "C" __global__ void scan_wrong(float* out, const float* in) { scan<false>(out, in); }

// A barrier in a branch that some threads of a warp do not take.
template <bool right>
__device__ void branch(float* out, const float* in, int n) {
  __shared__ float s[64];
  const int t = threadIdx.x;
  if (right) {
    if (t < n) s[t] = in[t];
    __syncthreads();
    if (t < n) out[t] = s[n - 1 - t];
  } else if (t < n) {
    s[t] = in[t];
    __syncthreads();
    out[t] = s[n - 1 - t];
  }
}
extern "C" __global__ void branch_right(float* out, const float* in, int n) { branch<true>(out, in, n); }
extern "C" __global__ void branch_wrong(float* out, const float* in, int n) { branch<false>(out, in, n); }
