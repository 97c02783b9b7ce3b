// nvcc -ptx -arch=sm_90
// Kernels with cuda::barrier.
#include <cuda/barrier>
extern "C" __global__ void rotate_by_barrier(int* out, const int* in, int rounds) {
  using barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ barrier bar;
  __shared__ int values[64];
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  int value = in[threadIdx.x];
#pragma unroll 1
  for (int i = 0; i < rounds; ++i) {
    values[threadIdx.x] = value;
    bar.arrive_and_wait();
    value = values[(threadIdx.x + 1) % blockDim.x] + 1;
    __syncthreads();
  }
  out[threadIdx.x] = value;
}
extern "C" __global__ void copy_in_bulk(int* out, const int* in) {
  using barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ alignas(16) int values[128];
  __shared__ barrier bar;
  if (threadIdx.x == 0) {
    init(&bar, blockDim.x);
    cuda::device::experimental::fence_proxy_async_shared_cta();
  }
  __syncthreads();
  barrier::arrival_token token;
  if (threadIdx.x == 0) {
    cuda::device::experimental::cp_async_bulk_global_to_shared(values, in, sizeof(values), bar);
    token = cuda::device::barrier_arrive_tx(bar, 1, sizeof(values));
  } else {
    token = bar.arrive();
  }
  bar.wait(std::move(token));
  for (int i = threadIdx.x; i < 128; i += blockDim.x) values[i] += 1000;
  cuda::device::experimental::fence_proxy_async_shared_cta();
  __syncthreads();
  if (threadIdx.x == 0) {
    cuda::device::experimental::cp_async_bulk_shared_to_global(out, values, sizeof(values));
    cuda::device::experimental::cp_async_bulk_commit_group();
    cuda::device::experimental::cp_async_bulk_wait_group_read<0>();
  }
}
