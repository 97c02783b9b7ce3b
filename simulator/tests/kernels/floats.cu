// nvcc -ptx -arch=compute_80
// Kernels in single precision, which are timed.
extern "C" __global__ void gelu(float* out, const float* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    const float x = in[i];
    out[i] = 0.5f * x * (1 + erff(x * 0.70710678f));
  }
}
extern "C" __global__ void multiply(float* c, const float* a, const float* b, int n) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
#pragma unroll 4
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}
extern "C" __global__ void multiply_tiles(float* c, const float* a, const float* b, int n) {
  __shared__ float rows[16][16], columns[16][16];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
  float sum = 0;
  for (int first = 0; first < n; first += 16) {
    rows[y][x] = a[row * n + first + x];
    columns[y][x] = b[(first + y) * n + column];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; ++k) sum += rows[y][k] * columns[k][x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}
extern "C" __global__ void row_norms(float* out, const float* in, const float* unused, int n) {
  __shared__ float partial[8];
  const float* row = in + blockIdx.x * n;
  float sum = 0;
#pragma unroll 1
  for (int i = threadIdx.x; i < n; i += 256) sum += row[i] * row[i];
#pragma unroll
  for (int k = 16; k > 0; k >>= 1) sum += __shfl_xor_sync(~0u, sum, k);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = 0;
  for (int k = 0; k < 8; ++k) sum += partial[k];
  const float scale = rsqrtf(sum / n + 1e-5f);
#pragma unroll 1
  for (int i = threadIdx.x; i < n; i += 256) out[blockIdx.x * n + i] = row[i] * scale;
}
