// Capture of graphs: what is refused, and how graphs run.
#include <thread>
#include <utility>

#include "device_code.h"

using namespace simulated;

namespace {

// Captures what `body` issues to the stream, and runs it `times` times.
template <class Body>
void capture_and_run(cudaStream_t stream, int times, Body body) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t program = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  body();
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&program, graph, 0), cudaSuccess);
  ASSERT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  for (int i = 0; i < times; ++i) ASSERT_EQ(cudaGraphLaunch(program, stream), cudaSuccess);
  ASSERT_EQ(cudaGraphExecDestroy(program), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
}

// The error of a call during a capture in this mode, and the error of the capture's end.
template <class Call>
std::pair<cudaError_t, cudaError_t> during_capture(cudaStreamCaptureMode mode, Call call) {
  const cudaStream_t stream = new_stream();
  EXPECT_EQ(cudaStreamBeginCapture(stream, mode), cudaSuccess);
  const cudaError_t error = call(stream);
  cudaGraph_t graph = nullptr;
  const cudaError_t end = cudaStreamEndCapture(stream, &graph);
  EXPECT_EQ(graph != nullptr, end == cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  cudaGetLastError();
  return {error, end};
}

cudaError_t allocate_little(cudaStream_t /*stream*/) {
  void* data = nullptr;
  return cudaMalloc(&data, 4);
}

using Errors = std::pair<cudaError_t, cudaError_t>;

}  // namespace

TEST(SimulatedCapture, AGraphRunsAsOftenAsItIsLaunched) {
  float* const data = device_floats(2, 1);
  capture_and_run(new_stream(), 3, [&] {});
  const cudaStream_t stream = new_stream();
  capture_and_run(stream, 3, [&] { add(data, 1, 2, stream); });
  EXPECT_EQ(value_at(data, 1), 4);
}

TEST(SimulatedCapture, WorkDoesNotRunWhileItIsCaptured) {
  float* const pinned = pinned_floats(1, 0);
  const cudaStream_t stream = new_stream();
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  add(pinned, 1, 1, stream);
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  ASSERT_EQ(cudaStreamIsCapturing(stream, &status), cudaSuccess);
  EXPECT_EQ(status, cudaStreamCaptureStatusActive);
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(*pinned, 0);
  std::size_t nodes = 0;
  ASSERT_EQ(cudaGraphGetNodes(graph, nullptr, &nodes), cudaSuccess);
  EXPECT_EQ(nodes, 1U);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
}

TEST(SimulatedCapture, EventsBringOtherStreamsIn) {
  float* const data = device_floats(1, 1);
  const cudaStream_t stream = new_stream();
  const cudaStream_t other = new_stream();
  const cudaEvent_t fork = new_event();
  const cudaEvent_t join = new_event();
  capture_and_run(stream, 2, [&] {
    add(data, 1, 1, stream);
    ASSERT_EQ(cudaEventRecord(fork, stream), cudaSuccess);
    ASSERT_EQ(cudaStreamWaitEvent(other, fork, 0), cudaSuccess);
    store(data, 0, 10, other);
    ASSERT_EQ(cudaEventRecord(join, other), cudaSuccess);
    ASSERT_EQ(cudaStreamWaitEvent(stream, join, 0), cudaSuccess);
    add(data, 1, 1, stream);
  });
  EXPECT_EQ(value_at(data), 11);
}

TEST(SimulatedCapture, AStreamThatDoesNotJoinIsRefused) {
  float* const data = device_floats(1, 1);
  const cudaStream_t other = new_stream();
  const cudaEvent_t fork = new_event();
  const auto leave_open = [&](cudaStream_t stream) {
    EXPECT_EQ(cudaEventRecord(fork, stream), cudaSuccess);
    EXPECT_EQ(cudaStreamWaitEvent(other, fork, 0), cudaSuccess);
    add(data, 1, 1, other);
    return cudaSuccess;
  };
  EXPECT_EQ(during_capture(cudaStreamCaptureModeGlobal, leave_open),
            Errors(cudaSuccess, cudaErrorStreamCaptureUnjoined));
  EXPECT_EQ(cudaStreamSynchronize(other), cudaSuccess);  // it captures no more
}

TEST(SimulatedCapture, UnsafeCallsDependOnTheMode) {
  const Errors refused(cudaErrorStreamCaptureUnsupported, cudaErrorStreamCaptureInvalidated);
  EXPECT_EQ(during_capture(cudaStreamCaptureModeGlobal, allocate_little), refused);
  EXPECT_EQ(during_capture(cudaStreamCaptureModeThreadLocal, allocate_little), refused);
  EXPECT_EQ(during_capture(cudaStreamCaptureModeRelaxed, allocate_little), Errors(cudaSuccess, cudaSuccess));
}

TEST(SimulatedCapture, OtherThreadsAreRefusedInTheGlobalModeOnly) {
  const auto in_another_thread = [](cudaStream_t stream) {
    cudaError_t error = cudaSuccess;
    std::thread([&] { error = allocate_little(stream); }).join();
    return error;
  };
  EXPECT_EQ(during_capture(cudaStreamCaptureModeGlobal, in_another_thread),
            Errors(cudaErrorStreamCaptureUnsupported, cudaErrorStreamCaptureInvalidated));
  EXPECT_EQ(during_capture(cudaStreamCaptureModeThreadLocal, in_another_thread),
            Errors(cudaSuccess, cudaSuccess));
}

TEST(SimulatedCapture, AThreadMayRelaxItsMode) {
  EXPECT_EQ(during_capture(cudaStreamCaptureModeGlobal,
                           [](cudaStream_t stream) {
                             auto mode = cudaStreamCaptureModeRelaxed;
                             EXPECT_EQ(cudaThreadExchangeStreamCaptureMode(&mode), cudaSuccess);
                             EXPECT_EQ(mode, cudaStreamCaptureModeGlobal);
                             const cudaError_t error = allocate_little(stream);
                             EXPECT_EQ(cudaThreadExchangeStreamCaptureMode(&mode), cudaSuccess);
                             return error;
                           }),
            Errors(cudaSuccess, cudaSuccess));
}

TEST(SimulatedCapture, NobodyWaitsForACapturingStream) {
  const Errors refused(cudaErrorStreamCaptureUnsupported, cudaErrorStreamCaptureInvalidated);
  for (const auto mode : {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeRelaxed}) {
    EXPECT_EQ(during_capture(mode, [](cudaStream_t stream) { return cudaStreamSynchronize(stream); }),
              refused);
    EXPECT_EQ(during_capture(mode, [](cudaStream_t stream) { return cudaStreamQuery(stream); }), refused);
    EXPECT_EQ(during_capture(mode, [](cudaStream_t) { return cudaDeviceSynchronize(); }), refused);
    EXPECT_EQ(during_capture(mode,
                             [](cudaStream_t stream) {
                               const cudaEvent_t event = new_event();
                               EXPECT_EQ(cudaEventRecord(event, stream), cudaSuccess);
                               return cudaEventSynchronize(event);
                             }),
              Errors(cudaErrorCapturedEvent, cudaErrorStreamCaptureInvalidated));
  }
}

TEST(SimulatedCapture, WorkOutsideIsNoDependency) {
  const cudaEvent_t event = new_event();
  ASSERT_EQ(cudaEventRecord(event, new_stream()), cudaSuccess);
  EXPECT_EQ(during_capture(cudaStreamCaptureModeGlobal,
                           [&](cudaStream_t stream) { return cudaStreamWaitEvent(stream, event, 0); }),
            Errors(cudaErrorStreamCaptureIsolation, cudaErrorStreamCaptureInvalidated));
}

TEST(SimulatedCapture, TheLegacyStreamDoesNotWaitForACapturingOne) {
  float* const data = device_floats(1, 1);
  const cudaStream_t stream = new_stream(cudaStreamDefault);
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal), cudaErrorStreamCaptureUnsupported);
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), cudaSuccess);
  EXPECT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), cudaErrorIllegalState);
  EXPECT_EQ(cudaMemsetAsync(data, 0, 4, nullptr), cudaErrorStreamCaptureImplicit);
  EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
  EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaErrorIllegalState);
  cudaGetLastError();
}

TEST(SimulatedCapture, CapturesAreNotMerged) {
  const cudaStream_t other = new_stream();
  const cudaEvent_t event = new_event();
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(other, cudaStreamCaptureModeRelaxed), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(event, other), cudaSuccess);
  EXPECT_EQ(during_capture(cudaStreamCaptureModeRelaxed,
                           [&](cudaStream_t stream) { return cudaStreamWaitEvent(stream, event, 0); }),
            Errors(cudaErrorStreamCaptureMerge, cudaErrorStreamCaptureInvalidated));
  EXPECT_EQ(cudaStreamEndCapture(other, &graph), cudaErrorStreamCaptureInvalidated);
  cudaGetLastError();
}

TEST(SimulatedCapture, TheFirstStreamEndsTheCaptureInItsThread) {
  const cudaStream_t stream = new_stream();
  const cudaStream_t other = new_stream();
  const cudaEvent_t event = new_event();
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  cudaError_t error = cudaSuccess;
  std::thread([&] { error = cudaStreamEndCapture(stream, &graph); }).join();
  EXPECT_EQ(error, cudaErrorStreamCaptureWrongThread);
  ASSERT_EQ(cudaEventRecord(event, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(other, event, 0), cudaSuccess);
  EXPECT_EQ(cudaStreamEndCapture(other, &graph), cudaErrorStreamCaptureUnmatched);
  EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
  cudaGetLastError();
}

TEST(SimulatedCapture, UserObjectsLiveAsLongAsTheirGraph) {
  int destroyed = 0;
  cudaUserObject_t object = nullptr;
  ASSERT_EQ(cudaUserObjectCreate(
                &object, &destroyed, [](void* count) { ++*static_cast<int*>(count); }, 1,
                cudaUserObjectNoDestructorSync),
            cudaSuccess);
  const cudaStream_t stream = new_stream();
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove), cudaSuccess);
  EXPECT_EQ(destroyed, 0);
  ASSERT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  EXPECT_EQ(destroyed, 1);
}
