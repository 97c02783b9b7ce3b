// nvcc -ptx -arch=sm_80
// Whole kernels of several kinds, whose results the tests compute, too.
#include <cuda_fp16.h>
extern "C" __global__ void gelu_half(__half2* out, const __half2* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    const float2 x = __half22float2(in[i]);
    out[i] = __floats2half2_rn(0.5f * x.x * (1 + erff(x.x * 0.70710678f)), __expf(x.y) / (1 + x.y * x.y));
  }
}
extern "C" __global__ void block_sums(float* out, const float* in, int n) {
  __shared__ float sums[32];
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
#pragma unroll 1
  for (int k = 16; k > 0; k >>= 1) sum += __shfl_down_sync(~0u, sum, k);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
#pragma unroll 1
    for (int k = 1; k < blockDim.x / 32; ++k) sum += sums[k];
    atomicAdd(out, sum);
  }
}
extern "C" __global__ void hash(unsigned long long* out, const unsigned long long* in, int rounds) {
  const int i = threadIdx.x;
  unsigned long long h = in[i];
#pragma unroll 1
  for (int k = 0; k < rounds; ++k) {
    h = __umul64hi(h, 0x9E3779B97F4A7C15ull) ^ (h << 7 | h >> 57) ^ (h % 1000003) ^ (unsigned)__popcll(h);
    h += (long long)h / (k - 5 ? k - 5 : 1);
    h ^= __brevll(h) ^ (unsigned long long)__byte_perm(h, h >> 32, 0x2741);
  }
  out[i] = h;
}
__device__ __noinline__ double horner(const double* coefficients, int n, double x) {
  return n == 0 ? 0 : coefficients[0] + x * horner(coefficients + 1, n - 1, x);
}
extern "C" __global__ void polynomial(double* out, const double* in, int n) {
  double coefficients[8];
  for (int k = 0; k < 8; ++k) coefficients[k] = in[k] + threadIdx.x;
  out[threadIdx.x] = horner(coefficients, n, in[8]);
}
