// nvcc -ptx -arch=sm_90
// A warp reads tiles that one thread copies in bulk, with objects of `mbarrier` for tiles that are full and
// places that are empty.
__device__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void wait(unsigned long long* barrier, int parity) {
  unsigned done = 0;
  while (!done)
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
        : "=r"(done)
        : "r"(at(barrier)), "r"(parity)
        : "memory");
}
extern "C" __global__ void sum_of_tiles(int* out, const int* in, int tiles) {
  __shared__ alignas(16) int tile[2][32];
  __shared__ unsigned long long full[2], empty[2];
  if (threadIdx.x == 0) {
    for (int i = 0; i < 2; ++i) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&full[i])));
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 32;" ::"r"(at(&empty[i])));
    }
    asm volatile("fence.mbarrier_init.release.cluster;");
  }
  __syncthreads();
  if (threadIdx.x == 32) {
#pragma unroll 1
    for (int i = 0; i < tiles; ++i) {
      wait(&empty[i % 2], (i / 2 + 1) % 2);
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 128;" ::"r"(at(&full[i % 2]))
                   : "memory");
      asm volatile(
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 128, [%2];" ::"r"(
              at(tile[i % 2])),
          "l"(__cvta_generic_to_global(in + 32 * i)), "r"(at(&full[i % 2]))
          : "memory");
    }
  } else if (threadIdx.x < 32) {
    int sum = 0;
#pragma unroll 1
    for (int i = 0; i < tiles; ++i) {
      wait(&full[i % 2], i / 2 % 2);
      sum += tile[i % 2][31 - threadIdx.x];
      asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at(&empty[i % 2])) : "memory");
    }
    out[threadIdx.x] = sum;
  }
}
