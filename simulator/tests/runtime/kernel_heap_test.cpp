// The limit of the heap for `malloc` in kernels.
#include "device_code.h"

using namespace simulated;

TEST(KernelHeap, HasTheSizeThatTheLimitSays) {
  std::size_t bytes = 0;
  ASSERT_EQ(cudaDeviceGetLimit(&bytes, cudaLimitMallocHeapSize), cudaSuccess);
  EXPECT_EQ(bytes, std::size_t{8} << 20);
  ASSERT_EQ(cudaDeviceSetLimit(cudaLimitMallocHeapSize, std::size_t{1} << 30), cudaSuccess);
  ASSERT_EQ(cudaDeviceGetLimit(&bytes, cudaLimitMallocHeapSize), cudaSuccess);
  EXPECT_EQ(bytes, std::size_t{1} << 30);
  ASSERT_EQ(cudaDeviceSetLimit(cudaLimitMallocHeapSize, std::size_t{8} << 20), cudaSuccess);
}
