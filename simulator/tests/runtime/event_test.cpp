// Events.
#include "device_code.h"

using namespace simulated;

TEST(SimulatedEvent, AnEventThatWasNotRecordedIsReached) {
  const cudaEvent_t event = new_event();
  EXPECT_EQ(cudaEventQuery(event), cudaSuccess);
  EXPECT_EQ(cudaEventSynchronize(event), cudaSuccess);
  EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(event), cudaErrorInvalidResourceHandle);
  cudaGetLastError();
}

TEST(SimulatedEvent, WaitingRunsWhatComesBeforeOnly) {
  float* const pinned = pinned_floats(1, 0);
  const cudaStream_t stream = new_stream();
  const cudaEvent_t event = new_event();
  add(pinned, 1, 1, stream);
  ASSERT_EQ(cudaEventRecord(event, stream), cudaSuccess);
  add(pinned, 1, 1, stream);
  EXPECT_EQ(cudaEventQuery(event), cudaErrorNotReady);
  ASSERT_EQ(cudaEventSynchronize(event), cudaSuccess);
  EXPECT_EQ(*pinned, 1);
  EXPECT_EQ(cudaEventQuery(event), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(*pinned, 2);
  cudaGetLastError();
}

TEST(SimulatedEvent, TimesAreThoseOfTheWork) {
  const cudaStream_t stream = new_stream();
  const cudaEvent_t begin = new_event();
  const cudaEvent_t end = new_event();
  float milliseconds = -1;
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, begin, end), cudaErrorInvalidResourceHandle);
  ASSERT_EQ(cudaEventRecord(begin, stream), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(end, stream), cudaSuccess);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, begin, end), cudaErrorNotReady);
  ASSERT_EQ(cudaEventSynchronize(end), cudaSuccess);
  ASSERT_EQ(cudaEventElapsedTime(&milliseconds, begin, end), cudaSuccess);
  EXPECT_GE(milliseconds, 0);
  const cudaEvent_t without_time = new_event(cudaEventDisableTiming);
  ASSERT_EQ(cudaEventRecord(without_time, stream), cudaSuccess);
  ASSERT_EQ(cudaEventSynchronize(without_time), cudaSuccess);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, begin, without_time), cudaErrorInvalidResourceHandle);
  cudaGetLastError();
}
