// Functions that change nothing that a program computes.
#include "device_code.h"

using namespace simulated;

TEST(SimulatedHints, ManagedMemoryMayBePrefetched) {
  constexpr cudaMemLocation kDevice{cudaMemLocationTypeDevice, {0}};
  void* managed = nullptr;
  void* plain = nullptr;
  ASSERT_EQ(cudaMallocManaged(&managed, 64), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&plain, 64), cudaSuccess);
  EXPECT_EQ(cudaMemPrefetchAsync(managed, 64, kDevice, 0, nullptr), cudaSuccess);
  EXPECT_EQ(cudaMemAdvise(managed, 64, cudaMemAdviseSetReadMostly, kDevice), cudaSuccess);
  EXPECT_EQ(cudaMemPrefetchAsync(plain, 64, kDevice, 0, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemAdvise(plain, 64, cudaMemAdviseSetReadMostly, kDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemPrefetchAsync(managed, 65, kDevice, 0, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  constexpr cudaMemLocation kNowhere{cudaMemLocationTypeDevice, {7}};
  EXPECT_EQ(cudaMemPrefetchAsync(managed, 64, kNowhere, 0, nullptr), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
}

TEST(SimulatedHints, LimitsAreThoseOfADevice) {
  std::size_t bytes = 0;
  ASSERT_EQ(cudaDeviceSetLimit(cudaLimitStackSize, 4096), cudaSuccess);
  ASSERT_EQ(cudaDeviceGetLimit(&bytes, cudaLimitStackSize), cudaSuccess);
  EXPECT_EQ(bytes, 4096u);
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  ASSERT_EQ(cudaDeviceGetLimit(&bytes, cudaLimitStackSize), cudaSuccess);
  EXPECT_EQ(bytes, 1024u);
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  EXPECT_EQ(cudaDeviceSetLimit(static_cast<cudaLimit>(99), 1), cudaErrorUnsupportedLimit);
  EXPECT_EQ(cudaGetLastError(), cudaErrorUnsupportedLimit);
}

TEST(SimulatedHints, CachesOfStreams) {
  const cudaStream_t stream = new_stream();
  cudaStreamAttrValue value{};
  EXPECT_EQ(cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &value), cudaSuccess);
  EXPECT_EQ(cudaCtxResetPersistingL2Cache(), cudaSuccess);
  EXPECT_EQ(cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, nullptr),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
}
