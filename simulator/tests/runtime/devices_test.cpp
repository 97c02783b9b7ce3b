// Two devices, and what they may see of each other.
#include "device_code.h"

using namespace simulated;

namespace {

class DeviceOne {
 public:
  DeviceOne() { EXPECT_EQ(cudaSetDevice(1), cudaSuccess); }
  ~DeviceOne() { EXPECT_EQ(cudaSetDevice(0), cudaSuccess); }
};

float* floats_of_device_one(unsigned count, float value) {
  const DeviceOne current;
  return device_floats(count, value);
}

}  // namespace

TEST(SimulatedDevices, AreTwo) {
  int count = 0;
  ASSERT_EQ(cudaGetDeviceCount(&count), cudaSuccess);
  EXPECT_EQ(count, 2);
  cudaDeviceProp properties{};
  ASSERT_EQ(cudaGetDeviceProperties(&properties, 1), cudaSuccess);
  EXPECT_EQ(properties.major, 9);
  int value = 0;
  ASSERT_EQ(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, 1), cudaSuccess);
  EXPECT_EQ(value, 227 << 10);
  EXPECT_EQ(cudaGetDeviceProperties(&properties, 2), cudaErrorInvalidDevice);
  cudaGetLastError();
}

TEST(SimulatedDevices, StreamsAndEventsBelongToOne) {
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  {
    const DeviceOne current;
    stream = new_stream();
    event = new_event();
  }
  float* data = device_floats(1, 0);
  unsigned index = 0;
  float value = 1;
  void* arguments[] = {&data, &index, &value};
  EXPECT_EQ(cudaLaunchKernel(&symbols().store, dim3(1), dim3(1), arguments, 0, stream),
            cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventRecord(event, nullptr), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventRecord(event, stream), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(nullptr, event, 0), cudaSuccess);
  cudaGetLastError();
}

TEST(SimulatedDevices, SynchronisingOneLeavesTheOther) {
  float* const pinned = pinned_floats(1, 0);
  {
    const DeviceOne current;
    store(pinned, 0, 1);
  }
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(*pinned, 0);
  const DeviceOne current;
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(*pinned, 1);
}

TEST(SimulatedDevices, CopiesNeedNoPeerAccess) {
  float* const here = device_floats(4, 1);
  float* const there = floats_of_device_one(4, 2);
  ASSERT_EQ(cudaMemcpyPeer(here, 0, there, 1, 16), cudaSuccess);
  EXPECT_EQ(value_at(here, 3), 2);
  store(here, 3, 5);
  ASSERT_EQ(cudaMemcpy(there, here, 16, cudaMemcpyDefault), cudaSuccess);
  EXPECT_EQ(value_at(there, 3), 5);
}

TEST(SimulatedDevicesDeathTest, KernelsNeedPeerAccess) {
  EXPECT_IN_CHILD(
      "opgate sim: kernel store, line [0-9]+ of the PTX: .*memory of device 1, which device 0 has no peer "
      "access to",
      {
        store(floats_of_device_one(4, 2), 0, 1);
        EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
      });
}

TEST(SimulatedDevicesDeathTest, PeerAccessIsEnabledInOneDirection) {
  EXPECT_IN_CHILD("memory of device 0, which device 1 has no peer access to", {
    float* const here = device_floats(4, 1);
    float* const there = floats_of_device_one(4, 2);
    EXPECT_EQ(cudaDeviceEnablePeerAccess(0, 0), cudaErrorInvalidDevice);
    EXPECT_EQ(cudaDeviceEnablePeerAccess(1, 0), cudaSuccess);
    EXPECT_EQ(cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessAlreadyEnabled);
    store(there, 0, 7);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(value_at(there), 7);
    const DeviceOne current;
    store(here, 0, 7);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  });
}

TEST(SimulatedDevices, PeerAccessMustBeEnabledToBeDisabled) {
  EXPECT_EQ(cudaDeviceDisablePeerAccess(1), cudaErrorPeerAccessNotEnabled);
  cudaGetLastError();
}
