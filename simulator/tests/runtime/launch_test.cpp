// What a device refuses to launch.
#include <vector>

#include "device_code.h"

using namespace simulated;

namespace {

cudaError_t launch_shape(const void* kernel, dim3 grid, dim3 block, std::size_t shared = 0) {
  float* data = nullptr;
  float value = 0;
  unsigned count = 0;
  std::vector<void*> arguments{&data, &value, &count};
  const cudaError_t error = cudaLaunchKernel(kernel, grid, block, arguments.data(), shared, nullptr);
  EXPECT_EQ(cudaGetLastError(), error);
  return error;
}

}  // namespace

TEST(SimulatedLaunch, HasLimitsOfGridAndBlock) {
  const void* const kernel = &symbols().add;
  EXPECT_EQ(launch_shape(kernel, 1, 1024), cudaSuccess);
  EXPECT_EQ(launch_shape(kernel, 1, 1025), cudaErrorInvalidValue);
  EXPECT_EQ(launch_shape(kernel, 1, dim3(32, 32, 1)), cudaSuccess);
  EXPECT_EQ(launch_shape(kernel, 1, dim3(32, 33, 1)), cudaErrorInvalidValue);
  EXPECT_EQ(launch_shape(kernel, 1, dim3(1, 1, 65)), cudaErrorInvalidValue);
  EXPECT_EQ(launch_shape(kernel, 0, 32), cudaErrorInvalidValue);
  EXPECT_EQ(launch_shape(kernel, 1, 0), cudaErrorInvalidValue);
  EXPECT_EQ(launch_shape(kernel, dim3(1, 65536, 1), 1), cudaErrorInvalidValue);
  EXPECT_EQ(launch_shape(kernel, dim3(1, 1, 65536), 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

TEST(SimulatedLaunch, HasTheKernelsOwnLimit) {
  EXPECT_EQ(launch_shape(&symbols().bounded, 1, 128), cudaSuccess);
  EXPECT_EQ(launch_shape(&symbols().bounded, 1, 129), cudaErrorInvalidValue);
  cudaFuncAttributes attributes{};
  ASSERT_EQ(cudaFuncGetAttributes(&attributes, &symbols().bounded), cudaSuccess);
  EXPECT_EQ(attributes.maxThreadsPerBlock, 128);
  // CUB launches its kernels with what suits the architecture that they were compiled for.
  EXPECT_EQ(attributes.ptxVersion, 80);
  EXPECT_EQ(attributes.binaryVersion, 90);
}

TEST(SimulatedLaunch, HasLimitsOfSharedMemory) {
  constexpr std::size_t kKilo = 1024;
  const void* const kernel = &symbols().shared;  // 40,000 bytes of its own
  EXPECT_EQ(launch_shape(kernel, 1, 32, 48 * kKilo - 40000), cudaSuccess);
  EXPECT_EQ(launch_shape(kernel, 1, 32, 48 * kKilo - 39999), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * kKilo),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  ASSERT_EQ(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 * kKilo),
            cudaSuccess);
  EXPECT_EQ(launch_shape(kernel, 1, 32, 100 * kKilo), cudaSuccess);
  EXPECT_EQ(launch_shape(kernel, 1, 32, 100 * kKilo + 1), cudaErrorInvalidValue);
}

TEST(SimulatedLaunch, AttributesAreThoseOfOneDevice) {
  const void* const kernel = &symbols().add;
  ASSERT_EQ(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 << 10),
            cudaSuccess);
  EXPECT_EQ(launch_shape(kernel, 1, 32, 100 << 10), cudaSuccess);
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  EXPECT_EQ(launch_shape(kernel, 1, 32, 100 << 10), cudaErrorInvalidValue);
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
}

TEST(SimulatedLaunch, NeedsAKernelWithPtx) {
  const int unknown = 0;
  EXPECT_EQ(launch_shape(&unknown, 1, 32), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(launch_shape(&symbols().absent, 1, 32), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(launch_shape(&symbols().machine_code, 1, 32), cudaErrorNoKernelImageForDevice);
}

TEST(SimulatedLaunch, Clusters) {
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cudaLaunchConfig_t config{};
  config.blockDim = dim3(32);
  config.attrs = &cluster;
  config.numAttrs = 1;
  float* data = device_floats(64, 0);
  float value = 1;
  unsigned count = 64;
  std::vector<void*> arguments{&data, &value, &count};
  const auto launch_clusters = [&](unsigned blocks, unsigned blocks_of_cluster) {
    config.gridDim = dim3(blocks);
    cluster.val.clusterDim = {blocks_of_cluster, 1, 1};
    return cudaLaunchKernelExC(&config, &symbols().add, arguments.data());
  };
  EXPECT_EQ(launch_clusters(2, 1), cudaSuccess);
  EXPECT_EQ(launch_clusters(2, 2), cudaSuccess);
  EXPECT_EQ(value_at(data, 63), 2);
  EXPECT_EQ(launch_clusters(3, 2), cudaErrorInvalidClusterSize);
  EXPECT_EQ(launch_clusters(2, 0), cudaErrorInvalidClusterSize);
  EXPECT_EQ(launch_clusters(16, 16), cudaErrorInvalidClusterSize);
  EXPECT_EQ(cudaFuncSetAttribute(&symbols().add, cudaFuncAttributeNonPortableClusterSizeAllowed, 1),
            cudaSuccess);
  EXPECT_EQ(launch_clusters(16, 16), cudaSuccess);
  EXPECT_EQ(value_at(data, 63), 3);
  EXPECT_EQ(cudaFuncSetAttribute(&symbols().add, cudaFuncAttributeNonPortableClusterSizeAllowed, 0),
            cudaSuccess);
  cudaGetLastError();
}

TEST(SimulatedLaunch, CooperativeGridsMustBeResident) {
  float* data = nullptr;
  float value = 0;
  unsigned count = 0;
  std::vector<void*> arguments{&data, &value, &count};
  EXPECT_EQ(
      cudaLaunchCooperativeKernel(&symbols().add, dim3(132 * 2), dim3(1024), arguments.data(), 0, nullptr),
      cudaSuccess);
  EXPECT_EQ(cudaLaunchCooperativeKernel(&symbols().add, dim3(132 * 2 + 1), dim3(1024), arguments.data(), 0,
                                        nullptr),
            cudaErrorCooperativeLaunchTooLarge);
  cudaGetLastError();
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

TEST(SimulatedLaunch, Occupancy) {
  int blocks = 0;
  ASSERT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &symbols().add, 256, 0), cudaSuccess);
  EXPECT_EQ(blocks, 8);
  ASSERT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &symbols().shared, 32, 0), cudaSuccess);
  EXPECT_EQ(blocks, 5);  // 228 KiB of shared memory, and 40,000 bytes and 1 KiB for each block
}

TEST(SimulatedLaunch, OccupancyOfClusters) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  cudaLaunchConfig_t config{};
  config.blockDim = dim3(1024);
  config.attrs = &attribute;
  config.numAttrs = 1;
  const auto clusters_of = [&](unsigned blocks) {
    config.gridDim = dim3(blocks);
    attribute.val.clusterDim = {blocks, 1, 1};
    int clusters = 0;
    EXPECT_EQ(cudaOccupancyMaxActiveClusters(&clusters, &symbols().add, &config), cudaSuccess);
    return clusters;
  };
  // Two such blocks on each of 132 multiprocessors: what an H200 answers.
  EXPECT_EQ(clusters_of(1), 264);
  EXPECT_EQ(clusters_of(2), 132);
  EXPECT_EQ(clusters_of(4), 62);
  EXPECT_EQ(clusters_of(8), 30);
  int clusters = 0;
  attribute.val.clusterDim = {16, 1, 1};
  EXPECT_EQ(cudaOccupancyMaxActiveClusters(&clusters, &symbols().add, &config), cudaErrorInvalidClusterSize);
  int blocks = 0;
  EXPECT_EQ(cudaOccupancyMaxPotentialClusterSize(&blocks, &symbols().add, &config), cudaSuccess);
  EXPECT_EQ(blocks, 8);
  EXPECT_EQ(cudaFuncSetAttribute(&symbols().add, cudaFuncAttributeNonPortableClusterSizeAllowed, 1),
            cudaSuccess);
  EXPECT_EQ(cudaOccupancyMaxPotentialClusterSize(&blocks, &symbols().add, &config), cudaSuccess);
  EXPECT_EQ(blocks, 16);
  EXPECT_EQ(clusters_of(9), 23);
  EXPECT_EQ(clusters_of(16), 14);
  EXPECT_EQ(clusters_of(17), 4);
  config.blockDim = dim3(2048);
  EXPECT_EQ(cudaOccupancyMaxPotentialClusterSize(&blocks, &symbols().add, &config), cudaSuccess);
  EXPECT_EQ(blocks, 0);
  EXPECT_EQ(cudaFuncSetAttribute(&symbols().add, cudaFuncAttributeNonPortableClusterSizeAllowed, 0),
            cudaSuccess);
}

TEST(SimulatedLaunch, VariablesHaveTheirInitialValueOnEachDevice) {
  for (const int device : {0, 1}) {
    ASSERT_EQ(cudaSetDevice(device), cudaSuccess);
    unsigned value = 0;
    ASSERT_EQ(cudaMemcpyFromSymbol(&value, &symbols().counter, 4, 0, cudaMemcpyDeviceToHost), cudaSuccess);
    EXPECT_EQ(value, 7U);
    value = 8;
    ASSERT_EQ(cudaMemcpyToSymbol(&symbols().counter, &value, 4, 0, cudaMemcpyHostToDevice), cudaSuccess);
  }
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  std::size_t bytes = 0;
  EXPECT_EQ(cudaGetSymbolSize(&bytes, &symbols().counter), cudaSuccess);
  EXPECT_EQ(bytes, 4U);
  EXPECT_EQ(cudaGetSymbolSize(&bytes, &symbols().add), cudaErrorInvalidSymbol);
  EXPECT_EQ(cudaMemcpyToSymbol(&symbols().counter, &bytes, 4, 1, cudaMemcpyHostToDevice),
            cudaErrorInvalidValue);
  cudaGetLastError();
}
