// nvcc -ptx -arch=sm_80
// Kernels with wmma and cp.async.
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>
extern "C" __global__ void multiply_tiles(float* out, const __half* a, const __half* b, int k) {
  using namespace nvcuda;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> right;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums;
  wmma::fill_fragment(sums, 0.0f);
#pragma unroll 1
  for (int i = 0; i < k; i += 16) {
    wmma::load_matrix_sync(left, a + i, k);
    wmma::load_matrix_sync(right, b + i, k);
    wmma::mma_sync(sums, left, right, sums);
  }
  for (int i = 0; i < sums.num_elements; ++i) sums.x[i] *= 0.5f;
  wmma::store_matrix_sync(out, sums, 16, wmma::mem_row_major);
}
extern "C" __global__ void sum_chunks(float* out, const float4* in, int chunks, bool waits) {
  __shared__ float4 stage[2][32];
  const int i = threadIdx.x;
  float sum = 0;
  __pipeline_memcpy_async(&stage[0][i], &in[i], sizeof(float4));
  __pipeline_commit();
#pragma unroll 1
  for (int c = 0; c < chunks; ++c) {
    const int next = min(c + 1, chunks - 1);
    __pipeline_memcpy_async(&stage[(c + 1) % 2][i], &in[next * 32 + i], sizeof(float4));
    __pipeline_commit();
    if (waits) __pipeline_wait_prior(1);
    __syncthreads();
    const float4 value = stage[c % 2][31 - i];
    sum += value.x + value.y * value.z + value.w;
    __syncthreads();
  }
  out[i] = sum;
}
// Each warp multiplies 16 rows of `a` by 8 columns of `b`, both of which lie in memory along k.
extern "C" __global__ void multiply_by_mma(float* out, const __half* a, const __half* b, int k, int n) {
  __shared__ alignas(16) __half left[16][24];
  __shared__ alignas(16) __half right[8][24];
  const int lane = threadIdx.x;
  a += blockIdx.y * 16 * k;
  b += blockIdx.x * 8 * k;
  float d[4] = {};
#pragma unroll 1
  for (int i = 0; i < k; i += 16) {
    __pipeline_memcpy_async(&left[lane / 2][lane % 2 * 8], a + lane / 2 * k + i + lane % 2 * 8, 16);
    if (lane < 16)
      __pipeline_memcpy_async(&right[lane / 2][lane % 2 * 8], b + lane / 2 * k + i + lane % 2 * 8, 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncwarp();
    unsigned x[4], y[2];
    const unsigned from_a = __cvta_generic_to_shared(&left[lane % 16][lane / 16 * 8]);
    const unsigned from_b = __cvta_generic_to_shared(&right[lane % 8][lane / 8 % 2 * 8]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                 : "r"(from_a));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(y[0]), "=r"(y[1])
                 : "r"(from_b));
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
    __syncwarp();
  }
  out += (blockIdx.y * 16 + lane / 4) * n + blockIdx.x * 8 + lane % 4 * 2;
  out[0] = d[0];
  out[1] = d[1];
  out[8 * n] = d[2];
  out[8 * n + 1] = d[3];
}
