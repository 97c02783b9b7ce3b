// Streams run as late as they may, and in the order that the program asked for.
#include <thread>

#include "device_code.h"

using namespace simulated;

TEST(SimulatedStream, WorkRunsWhenSomebodyWaits) {
  float* const pinned = pinned_floats(1, 1);
  const cudaStream_t stream = new_stream();
  add(pinned, 1, 1, stream);
  EXPECT_EQ(*pinned, 1);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(*pinned, 2);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
}

TEST(SimulatedStream, AQueryIsNotReadyAtFirstAndEndsAtLast) {
  float* const pinned = pinned_floats(1, 0);
  const cudaStream_t stream = new_stream();
  add(pinned, 1, 1, stream);
  add(pinned, 1, 1, stream);
  int queries = 0;
  while (cudaStreamQuery(stream) == cudaErrorNotReady) ++queries;
  EXPECT_EQ(queries, 2);
  EXPECT_EQ(*pinned, 2);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(stream), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST(SimulatedStream, AnotherStreamDoesNotWait) {
  float* const data = device_floats(1, 1);
  const cudaStream_t writer = new_stream();
  const cudaStream_t reader = new_stream();
  float* const result = pinned_floats(1, 0);
  store(data, 0, 5, writer);
  ASSERT_EQ(cudaMemcpyAsync(result, data, 4, cudaMemcpyDeviceToHost, reader), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(reader), cudaSuccess);
  EXPECT_EQ(*result, 1);  // nothing orders the two streams
  ASSERT_EQ(cudaStreamSynchronize(writer), cudaSuccess);
  EXPECT_EQ(value_at(data), 5);
}

TEST(SimulatedStream, OfUnorderedStreamsTheLastRunsFirst) {
  float* const data = device_floats(1, 0);
  const cudaStream_t first = new_stream();
  const cudaStream_t second = new_stream();
  store(data, 0, 1, first);
  store(data, 0, 2, second);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(value_at(data), 1);
}

TEST(SimulatedStream, AnEventOrdersStreams) {
  float* const data = device_floats(1, 1);
  const cudaStream_t writer = new_stream();
  const cudaStream_t reader = new_stream();
  const cudaEvent_t event = new_event(cudaEventDisableTiming);
  float* const result = pinned_floats(1, 0);
  store(data, 0, 5, writer);
  ASSERT_EQ(cudaEventRecord(event, writer), cudaSuccess);
  store(data, 0, 6, writer);
  ASSERT_EQ(cudaStreamWaitEvent(reader, event, 0), cudaSuccess);
  ASSERT_EQ(cudaMemcpyAsync(result, data, 4, cudaMemcpyDeviceToHost, reader), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(reader), cudaSuccess);
  EXPECT_EQ(*result, 5);
}

TEST(SimulatedStream, TheLegacyStreamWaitsForBlockingOnesOnly) {
  float* const data = device_floats(2, 0);
  const cudaStream_t blocking = new_stream(cudaStreamDefault);
  const cudaStream_t other = new_stream(cudaStreamNonBlocking);
  store(data, 0, 1, blocking);
  store(data, 1, 1, other);
  EXPECT_EQ(value_at(data, 0), 1);
  EXPECT_EQ(value_at(data, 1), 0);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(value_at(data, 1), 1);
}

TEST(SimulatedStream, BlockingStreamsWaitForTheLegacyOne) {
  float* const data = device_floats(1, 0);
  const cudaStream_t blocking = new_stream(cudaStreamDefault);
  store(data, 0, 1, nullptr);
  add(data, 1, 1, blocking);
  ASSERT_EQ(cudaStreamSynchronize(blocking), cudaSuccess);
  EXPECT_EQ(value_at(data), 2);
}

TEST(SimulatedStream, PageableSourcesAreReadDuringTheCall) {
  float* const data = device_floats(1, 0);
  float source = 3;
  float* const pinned = pinned_floats(1, 3);
  float* const other = device_floats(1, 0);
  const cudaStream_t stream = new_stream();
  ASSERT_EQ(cudaMemcpyAsync(data, &source, 4, cudaMemcpyHostToDevice, stream), cudaSuccess);
  ASSERT_EQ(cudaMemcpyAsync(other, pinned, 4, cudaMemcpyHostToDevice, stream), cudaSuccess);
  source = 4;
  *pinned = 4;
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(value_at(data), 3);
  EXPECT_EQ(value_at(other), 4);  // the program wrote to it too early
}

TEST(SimulatedStream, WorkOutlivesItsStream) {
  float* const data = device_floats(1, 0);
  const cudaStream_t stream = new_stream();
  store(data, 0, 1, stream);
  ASSERT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorInvalidResourceHandle);
  cudaGetLastError();
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(value_at(data), 1);
}

TEST(SimulatedStream, FunctionsOfTheHostMayNotCallCuda) {
  const cudaStream_t stream = new_stream();
  cudaError_t seen = cudaSuccess;
  ASSERT_EQ(cudaLaunchHostFunc(
                stream,
                [](void* status) {
                  void* data = nullptr;
                  *static_cast<cudaError_t*>(status) = cudaMalloc(&data, 4);
                },
                &seen),
            cudaSuccess);
  EXPECT_EQ(seen, cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(seen, cudaErrorNotPermitted);
  cudaGetLastError();
}

TEST(SimulatedStream, OtherThreadsCallCudaWhileAFunctionOfTheHostRuns) {
  const cudaStream_t stream = new_stream();
  cudaError_t seen = cudaErrorUnknown;
  ASSERT_EQ(cudaLaunchHostFunc(
                stream,
                [](void* status) {
                  std::thread([status] {
                    void* data = nullptr;
                    *static_cast<cudaError_t*>(status) = cudaMalloc(&data, 4);
                  }).join();
                },
                &seen),
            cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(seen, cudaSuccess);
}
