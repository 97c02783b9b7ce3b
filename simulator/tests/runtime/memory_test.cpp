// Memory of devices and of the host for them.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <vector>

#include "device_code.h"

using namespace simulated;

TEST(SimulatedMemory, NewMemoryHoldsNaN) {
  float* data = nullptr;
  ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&data), 64), cudaSuccess);
  const float value = value_at(data, 15);
  EXPECT_NE(value, value);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data) % 256, 0U);
  EXPECT_EQ(cudaFree(data), cudaSuccess);
}

TEST(SimulatedMemory, NothingIsANullPointer) {
  void* data = &data;
  EXPECT_EQ(cudaMalloc(&data, 0), cudaSuccess);
  EXPECT_EQ(data, nullptr);
  EXPECT_EQ(cudaFree(nullptr), cudaSuccess);
}

TEST(SimulatedMemory, IsRefusedWhereThereIsNoMore) {
  std::size_t available = 0;
  std::size_t total = 0;
  ASSERT_EQ(cudaMemGetInfo(&available, &total), cudaSuccess);
  void* data = nullptr;
  EXPECT_EQ(cudaMalloc(&data, total + 1), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST(SimulatedMemory, IsCounted) {
  std::size_t before = 0;
  std::size_t during = 0;
  std::size_t after = 0;
  std::size_t total = 0;
  void* data = nullptr;
  ASSERT_EQ(cudaMemGetInfo(&before, &total), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&data, 1000), cudaSuccess);
  ASSERT_EQ(cudaMemGetInfo(&during, &total), cudaSuccess);
  ASSERT_EQ(cudaFree(data), cudaSuccess);
  ASSERT_EQ(cudaMemGetInfo(&after, &total), cudaSuccess);
  EXPECT_EQ(before - during, 1000U);
  EXPECT_EQ(after, before);
}

TEST(SimulatedMemory, IsFreedOnce) {
  float* const data = device_floats(4, 1);
  EXPECT_EQ(cudaFree(data + 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(data), cudaSuccess);
  EXPECT_EQ(cudaFree(data), cudaErrorInvalidValue);
  cudaGetLastError();
}

TEST(SimulatedMemory, FreedMemoryIsNotReusedAtOnce) {
  float* const first = device_floats(4, 1);
  ASSERT_EQ(cudaFree(first), cudaSuccess);
  float* const second = device_floats(4, 1);
  EXPECT_NE(first, second);
  EXPECT_EQ(cudaFree(second), cudaSuccess);
}

TEST(SimulatedMemory, PointersSayWhatTheyAre) {
  float* const device = device_floats(4, 1);
  float* const pinned = pinned_floats(4, 1);
  float* managed = nullptr;
  ASSERT_EQ(cudaMallocManaged(reinterpret_cast<void**>(&managed), 16, cudaMemAttachGlobal), cudaSuccess);
  std::vector<float> plain(4);
  cudaPointerAttributes attributes{};
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, device + 2), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
  EXPECT_EQ(attributes.device, 0);
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, pinned), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, managed), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeManaged);
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, plain.data()), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeUnregistered);
  ASSERT_EQ(cudaHostRegister(plain.data(), 16, cudaHostRegisterDefault), cudaSuccess);
  EXPECT_EQ(cudaHostRegister(plain.data() + 1, 4, cudaHostRegisterDefault),
            cudaErrorHostMemoryAlreadyRegistered);
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, plain.data()), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
  EXPECT_EQ(cudaHostUnregister(plain.data()), cudaSuccess);
  EXPECT_EQ(cudaHostUnregister(plain.data()), cudaErrorHostMemoryNotRegistered);
  cudaGetLastError();
  ASSERT_EQ(cudaFree(device), cudaSuccess);
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, device), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeUnregistered);
  EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
  EXPECT_EQ(cudaFree(managed), cudaSuccess);
}

TEST(SimulatedMemory, KernelsReachPinnedAndManagedMemory) {
  float* const pinned = pinned_floats(4, 1);
  float* managed = nullptr;
  ASSERT_EQ(cudaMallocManaged(reinterpret_cast<void**>(&managed), 16, cudaMemAttachGlobal), cudaSuccess);
  managed[3] = 5;
  add(pinned, 2, 4);
  add(managed, 2, 4);
  EXPECT_EQ(pinned[3], 1);  // not run yet
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(pinned[3], 3);
  EXPECT_EQ(managed[3], 7);
  EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
  EXPECT_EQ(cudaFree(managed), cudaSuccess);
}

TEST(SimulatedMemoryDeathTest, TheHostFaultsOnDeviceMemory) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        volatile float* const data = device_floats(4, 1);
        static_cast<void>(*data);
      },
      "opgate sim: the host dereferences device memory: the address 0x[0-9a-f]+ of device 0");
}

TEST(SimulatedMemoryDeathTest, AChildProcessCannotUseTheParentsDevices) {
  EXPECT_IN_CHILD("", {
    device_floats(4, 1);
    const pid_t child = fork();
    if (child == 0) {
      void* data = nullptr;
      std::_Exit(cudaMalloc(&data, 4) == cudaErrorInitializationError ? 0 : 1);
    }
    int status = 1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  });
}
