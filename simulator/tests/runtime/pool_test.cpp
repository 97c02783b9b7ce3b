// Memory in the order of streams.
#include <cstdint>

#include "device_code.h"

using namespace simulated;

TEST(SimulatedPool, MemoryIsFreedInTheOrderOfItsStream) {
  const cudaStream_t stream = new_stream();
  cudaMemPool_t pool = nullptr;
  ASSERT_EQ(cudaDeviceGetDefaultMemPool(&pool, 0), cudaSuccess);
  float* data = nullptr;
  ASSERT_EQ(cudaMallocAsync(reinterpret_cast<void**>(&data), 4, stream), cudaSuccess);
  ASSERT_EQ(cudaMemsetAsync(data, 0, 4, stream), cudaSuccess);
  add(data, 1, 1, stream);
  ASSERT_EQ(cudaFreeAsync(data, stream), cudaSuccess);
  std::uint64_t used = 0;
  ASSERT_EQ(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used), cudaSuccess);
  EXPECT_EQ(used, 4U);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  ASSERT_EQ(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used), cudaSuccess);
  EXPECT_EQ(used, 0U);
  EXPECT_EQ(cudaFreeAsync(data, stream), cudaErrorInvalidValue);
  cudaGetLastError();
}

TEST(SimulatedPool, PoolsOfTheProgram) {
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {cudaMemLocationTypeDevice, {1}};
  cudaMemPool_t pool = nullptr;
  ASSERT_EQ(cudaMemPoolCreate(&pool, &properties), cudaSuccess);
  void* data = nullptr;
  ASSERT_EQ(cudaMallocFromPoolAsync(&data, 4, pool, nullptr), cudaSuccess);
  cudaPointerAttributes attributes{};
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, data), cudaSuccess);
  EXPECT_EQ(attributes.device, 1);
  EXPECT_EQ(cudaDeviceSetMemPool(0, pool), cudaErrorInvalidValue);
  ASSERT_EQ(cudaFree(data), cudaSuccess);
  EXPECT_EQ(cudaMemPoolDestroy(pool), cudaSuccess);
  EXPECT_EQ(cudaMemPoolDestroy(pool), cudaErrorInvalidValue);
  cudaGetLastError();
}
