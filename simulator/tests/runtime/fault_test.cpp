// Faults of kernels, and the errors that they leave.
#include <vector>

#include "device_code.h"

using namespace simulated;

TEST(SimulatedFaultDeathTest, PastTheEndOfAnAllocation) {
  EXPECT_IN_CHILD(
      "opgate sim: kernel store, line [0-9]+ of the PTX: .*past the end of an allocation of 16 bytes by "
      "4.*cudaErrorIllegalAddress",
      {
        float* const data = device_floats(4, 1);
        store(data, 4, 1);
        EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);  // the kernel has not run yet
        EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
      });
}

TEST(SimulatedFaultDeathTest, NamesTheArgumentOfTheLaunch) {
  EXPECT_IN_CHILD(
      "past the end of an allocation of 32 bytes by 4: byte 16 of argument 1 of the launch, which points to "
      "16 bytes \\(block",
      {
        store(device_floats(8, 1) + 4, 4, 1);
        EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
      });
}

TEST(SimulatedFaultDeathTest, BeforeAnAllocation) {
  EXPECT_IN_CHILD("before the start of an allocation of 32 bytes by 64 \\(block", {
    device_floats(4, 1);
    store(device_floats(8, 1) - 16, 0, 1);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  });
}

TEST(SimulatedFaultDeathTest, AfterMemoryWasFreed) {
  EXPECT_IN_CHILD(
      "opgate sim: kernel store, line [0-9]+ of the PTX: .*byte 0 of an allocation of 16 bytes that was "
      "freed: byte 0 of argument 1 of the launch",
      {
        float* const data = device_floats(4, 1);
        EXPECT_EQ(cudaFree(data), cudaSuccess);
        store(data, 0, 1);
        EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
      });
}

TEST(SimulatedFaultDeathTest, OfThePageableHost) {
  EXPECT_IN_CHILD("opgate sim: kernel store, line [0-9]+ of the PTX: .*not memory of a device", {
    std::vector<float> data(4);
    store(data.data(), 0, 1);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  });
}

TEST(SimulatedFaultDeathTest, Misaligned) {
  EXPECT_IN_CHILD("cudaErrorMisalignedAddress", {
    float* const data = device_floats(4, 1);
    store(reinterpret_cast<float*>(reinterpret_cast<char*>(data) + 2), 0, 1);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorMisalignedAddress);
  });
}

TEST(SimulatedFaultDeathTest, ATrap) {
  EXPECT_IN_CHILD("opgate sim: kernel trapping", {
    launch(&symbols().trap, {}, nullptr, 1);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
  });
}

TEST(SimulatedFaultDeathTest, IsSticky) {
  EXPECT_IN_CHILD("", {
    float* const data = device_floats(4, 1);
    cudaEvent_t event = nullptr;
    EXPECT_EQ(cudaEventCreate(&event), cudaSuccess);
    store(nullptr, 0, 1);
    const cudaStream_t stream = new_stream();
    EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaErrorIllegalAddress);
    EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);  // it was reported, and only other functions fail from now on
    EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
    void* more = nullptr;
    EXPECT_EQ(cudaMalloc(&more, 4), cudaErrorIllegalAddress);
    EXPECT_EQ(cudaStreamQuery(stream), cudaErrorIllegalAddress);
    EXPECT_EQ(cudaFree(data), cudaSuccess) << "destructors call it";
    EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
    EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    int device = 1;
    EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
    EXPECT_EQ(device, 0);
  });
}

// It waits for the kernel that uses the memory, and so is the first to notice the fault.
TEST(SimulatedFaultDeathTest, IsNotToldByAFunctionThatFrees) {
  EXPECT_IN_CHILD("", {
    float* const data = device_floats(4, 1);
    store(nullptr, 0, 1);
    EXPECT_EQ(cudaFree(data), cudaSuccess);
    EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
  });
}

TEST(SimulatedFaultDeathTest, LaterKernelsDoNotRun) {
  EXPECT_IN_CHILD("", {
    float* const pinned = pinned_floats(1, 0);
    store(nullptr, 0, 1);
    store(pinned, 0, 1);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    EXPECT_EQ(*pinned, 0);
  });
}

TEST(SimulatedFaultDeathTest, CallbacksAreToldOfIt) {
  EXPECT_IN_CHILD("", {
    cudaError_t seen = cudaSuccess;
    bool called = false;
    store(nullptr, 0, 1);
    EXPECT_EQ(cudaLaunchHostFunc(
                  nullptr, [](void* flag) { *static_cast<bool*>(flag) = true; }, &called),
              cudaSuccess);
    EXPECT_EQ(
        cudaStreamAddCallback(
            nullptr,
            [](cudaStream_t, cudaError_t status, void* place) { *static_cast<cudaError_t*>(place) = status; },
            &seen, 0),
        cudaSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    EXPECT_FALSE(called);
    EXPECT_EQ(seen, cudaErrorIllegalAddress);
  });
}

TEST(SimulatedFaultDeathTest, FreedInAnotherStreamBeforeACopy) {
  EXPECT_IN_CHILD("opgate sim: the source of a copy: byte 0 of an allocation of 4 bytes that was freed", {
    const cudaStream_t first = new_stream();
    const cudaStream_t second = new_stream();
    void* data = nullptr;
    float* const pinned = pinned_floats(1, 0);
    EXPECT_EQ(cudaMallocAsync(&data, 4, first), cudaSuccess);
    EXPECT_EQ(cudaMemcpyAsync(pinned, data, 4, cudaMemcpyDeviceToHost, second), cudaSuccess);
    EXPECT_EQ(cudaFreeAsync(data, first), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(first), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(second), cudaErrorIllegalAddress);
  });
}

TEST(SimulatedError, OrdinaryErrorsAreForgottenOnceTheyAreRead) {
  EXPECT_EQ(cudaSetDevice(100), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidDevice);
  int device = -1;
  EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST(SimulatedError, HasANameAndAText) {
  EXPECT_STREQ(cudaGetErrorName(cudaErrorIllegalAddress), "cudaErrorIllegalAddress");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorIllegalAddress), "an illegal memory access was encountered");
  EXPECT_STREQ(cudaGetErrorString(static_cast<cudaError_t>(123456)), "unrecognized error code");
}
