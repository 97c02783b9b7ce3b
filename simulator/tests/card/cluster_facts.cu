// Prints how blocks see their cluster and which clusters a launch may have, a line "name<TAB>value" each.
// ci/card compares the lines of a card with those of the simulated device. The argument is a group of facts,
// without which the names of the groups are printed.
#include <cuda_runtime.h>

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr unsigned kFacts = 18;

__global__ void tell(unsigned* facts) {
  __shared__ unsigned own;
  unsigned* const of_block =
      facts + kFacts * (blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z));
#define TELL(place, name) asm volatile("mov.u32 %0, %%" name ";" : "=r"(of_block[place]))
  TELL(0, "cluster_ctaid.x");
  TELL(1, "cluster_ctaid.y");
  TELL(2, "cluster_ctaid.z");
  TELL(3, "cluster_nctaid.x");
  TELL(4, "cluster_nctaid.y");
  TELL(5, "cluster_nctaid.z");
  TELL(6, "clusterid.x");
  TELL(7, "clusterid.y");
  TELL(8, "clusterid.z");
  TELL(9, "nclusterid.x");
  TELL(10, "nclusterid.y");
  TELL(11, "nclusterid.z");
  TELL(12, "cluster_ctarank");
  TELL(13, "cluster_nctarank");
#undef TELL
  asm volatile("{ .reg .pred p; mov.pred p, %%is_explicit_cluster; selp.u32 %0, 1, 0, p; }"
               : "=r"(of_block[14]));
  own = 1000 + blockIdx.x + 100 * blockIdx.y + 10 * blockIdx.z;
  const unsigned neighbour = (of_block[12] + 1) % of_block[13];
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(&own));
  unsigned of_neighbour;
  asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(of_neighbour) : "r"(address), "r"(neighbour));
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(of_block[15]) : "r"(of_neighbour) : "memory");
  asm volatile("getctarank.shared::cluster.u32 %0, %1;" : "=r"(of_block[16]) : "r"(of_neighbour));
  asm volatile("atom.shared::cluster.add.u32 %0, [%1], 7;"
               : "=r"(of_block[17])
               : "r"(of_neighbour)
               : "memory");
  asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
  of_block[17] += 10000 * own;
}

__global__ void __cluster_dims__(2, 1, 1) in_pairs() {}
__global__ void with_much_shared() {
  extern __shared__ int much[];
  much[threadIdx.x] = 0;
}
__global__ void large() {}

constexpr const char* kNames[kFacts]{"ctaid.x",
                                     "ctaid.y",
                                     "ctaid.z",
                                     "nctaid.x",
                                     "nctaid.y",
                                     "nctaid.z",
                                     "clusterid.x",
                                     "clusterid.y",
                                     "clusterid.z",
                                     "nclusterid.x",
                                     "nclusterid.y",
                                     "nclusterid.z",
                                     "rank",
                                     "size",
                                     "is explicit",
                                     "of the neighbour",
                                     "rank of its address",
                                     "sum before and after"};

void print(const std::string& name, const std::string& value) {
  std::printf("%s\t%s\n", name.c_str(), value.c_str());
}

std::string text(dim3 extent) {
  return std::to_string(extent.x) + " x " + std::to_string(extent.y) + " x " + std::to_string(extent.z);
}

struct Launch {
  cudaLaunchAttribute attribute{};
  cudaLaunchConfig_t config{};

  Launch(dim3 grid, dim3 cluster, unsigned threads = 32, size_t shared = 0) {
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {cluster.x, cluster.y, cluster.z};
    config.gridDim = grid;
    config.blockDim = threads;
    config.dynamicSmemBytes = shared;
    config.attrs = &attribute;
    config.numAttrs = 1;
  }
  Launch(const Launch&) = delete;
};

// Copies 16 bytes in the shared memory of a block, and waits a while.
__global__ void copy_in_shared(unsigned* result) {
  __shared__ alignas(16) unsigned given[4];
  __shared__ alignas(16) unsigned place[4];
  __shared__ unsigned long long barrier;
  const auto address = [](const void* pointer) {
    return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
  };
  for (unsigned i = 0; i < 4; ++i) {
    given[i] = 1000 + i;
    place[i] = 0;
  }
  const unsigned mbarrier = address(&barrier);
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(mbarrier) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster; fence.proxy.async;" ::: "memory");
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 16;" ::"r"(mbarrier) : "memory");
  asm volatile(
      "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], 16, [%2];" ::"r"(
          address(place)),
      "r"(address(given)), "r"(mbarrier)
      : "memory");
  unsigned is_complete = 0;
  for (unsigned i = 0; i < 100000 && is_complete == 0; ++i) {
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
        : "=r"(is_complete)
        : "r"(mbarrier)
        : "memory");
  }
  *result = is_complete != 0 ? place[3] : 0;
}

template <class... Parameters, class... Arguments>
void print_launch(const std::string& name, const Launch& launch, void (*kernel)(Parameters...),
                  Arguments... arguments) {
  const cudaError_t error = cudaLaunchKernelEx(&launch.config, kernel, arguments...);
  print(name, cudaGetErrorName(error));
  print(name + ", last error", cudaGetErrorName(cudaGetLastError()));
  print(name + ", afterwards", cudaGetErrorName(cudaDeviceSynchronize()));
}

void print_views(unsigned* facts) {
  const auto print_view = [&](const std::string& name, dim3 grid, cudaError_t error) {
    std::vector<unsigned> all(kFacts * grid.x * grid.y * grid.z);
    if (error == cudaSuccess)
      error = cudaMemcpy(all.data(), facts, all.size() * sizeof(unsigned), cudaMemcpyDeviceToHost);
    for (unsigned fact = 0; fact < kFacts; ++fact) {
      std::string values;
      for (size_t at = fact; at < all.size(); at += kFacts)
        values += (values.empty() ? "" : " ") + std::to_string(all[at]);
      print(name + ", " + kNames[fact], error == cudaSuccess ? values : cudaGetErrorName(error));
    }
  };
  const dim3 grid(4, 4, 2);
  tell<<<grid, 1>>>(facts);
  print_view("no cluster", grid, cudaGetLastError());
  for (const dim3 cluster : {dim3(1), dim3(2), dim3(4), dim3(2, 2), dim3(1, 4), dim3(2, 2, 2)}) {
    const Launch launch(grid, cluster, 1);
    print_view(text(cluster), grid, cudaLaunchKernelEx(&launch.config, tell, facts));
    cudaGetLastError();
  }
}

void print_refusals() {
  for (const auto& [grid, cluster] : {std::pair{dim3(3), dim3(2)},
                                      {dim3(4), dim3(3)},
                                      {dim3(2), dim3(4)},
                                      {dim3(4, 3), dim3(2, 2)},
                                      {dim3(4, 4, 3), dim3(1, 1, 2)},
                                      {dim3(4), dim3(0)},
                                      {dim3(4), dim3(1, 0)},
                                      {dim3(8), dim3(8)},
                                      {dim3(9), dim3(9)},
                                      {dim3(16), dim3(16)},
                                      {dim3(17), dim3(17)},
                                      {dim3(4, 4), dim3(4, 4)},
                                      {dim3(6), dim3(3)},
                                      {dim3(7), dim3(7)},
                                      {dim3(64, 64, 64), dim3(2, 2, 2)}}) {
    const std::string name = text(grid) + " in clusters of " + text(cluster);
    print_launch(name, {grid, cluster}, large);
  }
  print("allow large clusters",
        cudaGetErrorName(cudaFuncSetAttribute(large, cudaFuncAttributeNonPortableClusterSizeAllowed, 1)));
  for (const unsigned size : {8u, 9u, 10u, 12u, 15u, 16u, 17u, 32u})
    print_launch("allowed, cluster of " + std::to_string(size), {size, size}, large);
  print("forbid large clusters",
        cudaGetErrorName(cudaFuncSetAttribute(large, cudaFuncAttributeNonPortableClusterSizeAllowed, 0)));
  print_launch("forbidden, cluster of 16", {16, 16}, large);
  print_launch("in pairs, cluster of 2", {4, 2}, in_pairs);
  print_launch("in pairs, cluster of 4", {4, 4}, in_pairs);
  print_launch("in pairs, cluster of 1", {4, 1}, in_pairs);
  in_pairs<<<4, 32>>>();
  print("in pairs, plain launch", cudaGetErrorName(cudaGetLastError()));
  in_pairs<<<3, 32>>>();
  print("in pairs, plain launch of 3", cudaGetErrorName(cudaGetLastError()));
  print("afterwards", cudaGetErrorName(cudaDeviceSynchronize()));
}

template <class Kernel>
void print_occupancy(const std::string& name, Kernel* kernel, unsigned threads, size_t shared) {
  int blocks = -1;
  const Launch largest(16, 1, threads, shared);
  cudaError_t error = cudaOccupancyMaxPotentialClusterSize(&blocks, kernel, &largest.config);
  print(name + ", largest cluster", error == cudaSuccess ? std::to_string(blocks) : cudaGetErrorName(error));
  for (const unsigned size : {1u, 2u, 4u, 8u, 9u, 16u, 17u}) {
    int clusters = -1;
    const Launch launch(size * 16, size, threads, shared);
    error = cudaOccupancyMaxActiveClusters(&clusters, kernel, &launch.config);
    print(name + ", clusters of " + std::to_string(size),
          error == cudaSuccess ? std::to_string(clusters) : cudaGetErrorName(error));
  }
  cudaGetLastError();
}

void print_occupancies() {
  print_occupancy("no large ones", with_much_shared, 128, 0);
  cudaFuncSetAttribute(with_much_shared, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  cudaFuncSetAttribute(with_much_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024);
  for (const unsigned threads : {32u, 128u, 512u, 1024u})
    print_occupancy(std::to_string(threads) + " threads", with_much_shared, threads, 0);
  for (const size_t shared : {48, 100, 227})
    print_occupancy(std::to_string(shared) + " KiB", with_much_shared, 128, shared * 1024);
  print_occupancy("in pairs", in_pairs, 128, 0);
}

// Alone in its process: a card may end with an illegal instruction, as it does for st.async.
void print_copy_without_cluster(unsigned* facts) {
  copy_in_shared<<<1, 1>>>(facts);
  unsigned result = 0;
  const cudaError_t error = cudaMemcpy(&result, facts, sizeof(result), cudaMemcpyDeviceToHost);
  print("copy in shared memory", error == cudaSuccess ? std::to_string(result) : cudaGetErrorName(error));
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 4096);  // a crash loses nothing
  if (argc < 2) {
    for (const char* const group : {"views", "refusals", "occupancies", "without a cluster"})
      std::puts(group);
    return 0;
  }
  unsigned* facts = nullptr;
  if (cudaMalloc(&facts, 4096 * sizeof(unsigned)) != cudaSuccess) {
    std::puts("no device");
    return 4;
  }
  const std::string group = argv[1];
  if (group == "views") print_views(facts);
  if (group == "refusals") print_refusals();
  if (group == "occupancies") print_occupancies();
  if (group == "without a cluster") print_copy_without_cluster(facts);
  return 0;
}
