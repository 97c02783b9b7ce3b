// nvcc -ptx -arch=sm_90
// Clusters of blocks that read, write and add to each other's shared memory.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__device__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
// Each block stores its number in the shared memory of the next block of the cluster, and reads that of the
// one after it.
extern "C" __global__ void around(int* out) {
  __shared__ int mine, given;
  cg::cluster_group cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank(), blocks = cluster.num_blocks();
  if (threadIdx.x == 0) {
    mine = blockIdx.y * gridDim.x + blockIdx.x;
    *cluster.map_shared_rank(&given, (rank + 1) % blocks) = mine;
  }
  cluster.sync();
  const int other = *cluster.map_shared_rank(&mine, (rank + 2) % blocks);
  const int block = blockIdx.y * gridDim.x + blockIdx.x;
  if (threadIdx.x == 0) {
    out[4 * block] = given;
    out[4 * block + 1] = other;
    out[4 * block + 2] = rank + 100 * blocks;
    out[4 * block + 3] = cluster.query_shared_rank(&mine) + 100 * cluster.block_index().x;
  }
  cluster.sync();
}
// All threads count in the first block's shared memory.
extern "C" __global__ void counted(int* out) {
  __shared__ int count;
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) count = 0;
  cluster.sync();
  atomicAdd(cluster.map_shared_rank(&count, 0), 1);
  cluster.sync();
  if (cluster.block_rank() == 0 && threadIdx.x == 0) out[blockIdx.x] = count;
}
// The first block copies its tile to the second one, whose threads wait at their own object of `mbarrier`.
extern "C" __global__ void handed_over(int* out, const int* in) {
  __shared__ alignas(16) int tile[32];
  __shared__ alignas(16) int given[32];
  __shared__ unsigned long long full;
  cg::cluster_group cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank();
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&full)));
  tile[threadIdx.x] = in[threadIdx.x] + blockIdx.x;
  asm volatile("fence.proxy.async;" ::: "memory");
  cluster.sync();
  if (rank == 0 && threadIdx.x == 0) {
    unsigned to, barrier;
    asm volatile("mapa.shared::cluster.u32 %0, %1, 1;" : "=r"(to) : "r"(at(given)));
    asm volatile("mapa.shared::cluster.u32 %0, %1, 1;" : "=r"(barrier) : "r"(at(&full)));
    asm volatile(
        "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], 128, [%2];" ::"r"(
            to),
        "r"(at(tile)), "r"(barrier)
        : "memory");
    asm volatile("mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%0], 128;" ::"r"(barrier)
                 : "memory");
  }
  if (rank == 1) {
    unsigned done = 0;
    while (!done)
      asm volatile(
          "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
          : "=r"(done)
          : "r"(at(&full))
          : "memory");
    out[32 * (blockIdx.x / 2) + threadIdx.x] = given[31 - threadIdx.x];
  }
  cluster.sync();
}
// Wrong.
extern "C" __global__ void ends_early(int* out) {
  __shared__ int mine;
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) mine = blockIdx.x;
  cluster.sync();
  out[blockIdx.x] = *cluster.map_shared_rank(&mine, (cluster.block_rank() + 1) % cluster.num_blocks());
}
extern "C" __global__ void reads_before_the_barrier(int* out) {
  __shared__ int mine;
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) mine = blockIdx.x;
  __syncthreads();
  out[blockIdx.x] = *cluster.map_shared_rank(&mine, (cluster.block_rank() + 1) % cluster.num_blocks());
  cluster.sync();
}
extern "C" __global__ void some_never_arrive(int* out) {
  if (threadIdx.x == 0) cg::this_cluster().sync();
  __syncthreads();
  out[blockIdx.x] = 1;
}
