// Kernels for the tests: PTX in a fat binary without compression, registered as nvcc's host code does it.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

extern "C" {
void** __cudaRegisterFatBinary(void* wrapper);
void __cudaRegisterFatBinaryEnd(void** handle);
void __cudaRegisterFunction(void** handle, const char* host_function, char* device_function, const char* name,
                            int thread_limit, uint3* thread, uint3* block, dim3* block_size, dim3* grid_size,
                            int* warp_size);
void __cudaRegisterVar(void** handle, char* host_variable, char* device_address, const char* name,
                       int external, std::size_t bytes, int constant, int global);
}

namespace simulated {

/// A fat binary with one entry. `kind` 1 is PTX, 2 machine code.
std::vector<unsigned char> fat_binary(const std::string& payload, unsigned architecture, unsigned kind = 1,
                                      std::uint64_t flags = 0, std::size_t plain_bytes = 0);

/// Registers the fat binary; it must stay where it is.
void** register_binary(const std::vector<unsigned char>& binary);

/// The functions and variables that a program would have. Their addresses are what counts.
struct Symbols {
  char add;           ///< (float* data, float value, unsigned count): data[i] += value
  char store;         ///< (float* data, unsigned index, float value): data[index] = value
  char count;         ///< (float* data): data[0] += 1 in each thread, atomically
  char shared;        ///< (float* data): 40,000 bytes of static shared memory
  char bounded;       ///< (float* data): at most 128 threads
  char trap;          ///< (): traps
  char absent;        ///< a name that the PTX does not have
  char machine_code;  ///< of a library without PTX
  char counter;       ///< `unsigned counter = 7`
};

/// Registered by the first call.
const Symbols& symbols();

inline void launch(const void* kernel, std::vector<void*> arguments, cudaStream_t stream = nullptr,
                   unsigned threads = 64) {
  ASSERT_EQ(cudaLaunchKernel(kernel, dim3(1), dim3(threads), arguments.data(), 0, stream), cudaSuccess);
}

inline void add(float* data, float value, unsigned count, cudaStream_t stream = nullptr) {
  launch(&symbols().add, {&data, &value, &count}, stream);
}

inline void store(float* data, unsigned index, float value, cudaStream_t stream = nullptr) {
  launch(&symbols().store, {&data, &index, &value}, stream, 1);
}

/// Memory of the current device that holds `value` everywhere.
inline float* device_floats(unsigned count, float value) {
  float* data = nullptr;
  EXPECT_EQ(cudaMalloc(reinterpret_cast<void**>(&data), count * sizeof(float)), cudaSuccess);
  const std::vector<float> values(count, value);
  EXPECT_EQ(cudaMemcpy(data, values.data(), count * sizeof(float), cudaMemcpyHostToDevice), cudaSuccess);
  return data;
}

/// Reads one value in the order of a stream, and waits for it.
inline float value_at(const float* data, unsigned index = 0) {
  float value = 0;
  EXPECT_EQ(cudaMemcpy(&value, data + index, sizeof value, cudaMemcpyDeviceToHost), cudaSuccess);
  return value;
}

/// Pinned memory, whose copies do not make the host wait.
inline float* pinned_floats(unsigned count, float value) {
  float* data = nullptr;
  EXPECT_EQ(cudaMallocHost(reinterpret_cast<void**>(&data), count * sizeof(float)), cudaSuccess);
  std::fill_n(data, count, value);
  return data;
}

inline cudaStream_t new_stream(unsigned flags = cudaStreamNonBlocking) {
  cudaStream_t stream = nullptr;
  EXPECT_EQ(cudaStreamCreateWithFlags(&stream, flags), cudaSuccess);
  return stream;
}

inline cudaEvent_t new_event(unsigned flags = cudaEventDefault) {
  cudaEvent_t event = nullptr;
  EXPECT_EQ(cudaEventCreateWithFlags(&event, flags), cudaSuccess);
  return event;
}

/// The rest of a child process of a death test: 0 where no expectation failed there.
[[noreturn]] inline void leave_child() { std::_Exit(::testing::Test::HasFailure() ? 1 : 0); }

}  // namespace simulated

/// Runs statements in a fresh process, because a fault ends all use of the devices in its own. The process
/// must write something that matches the expression to stderr.
#define EXPECT_IN_CHILD(expression, ...)            \
  do {                                              \
    GTEST_FLAG_SET(death_test_style, "threadsafe"); \
    EXPECT_EXIT(                                    \
        {                                           \
          __VA_ARGS__;                              \
          simulated::leave_child();                 \
        },                                          \
        ::testing::ExitedWithCode(0), expression);  \
  } while (false)
