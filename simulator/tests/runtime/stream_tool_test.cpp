// The tool `stream`: which orders of operations it knows, and what it says where there is none. Each test is
// a process of its own, because the environment is read once.
#include <string>

#include "device_code.h"
#include "take_finding.h"

using namespace simulated;

namespace {

void use_stream_tool() { setenv("OPGATE_SIM_TOOLS", "stream", 1); }

/// What has been found when all is done.
std::string found() {
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  return take_finding();
}

bool has(const std::string& line, const std::string& words) { return line.find(words) != std::string::npos; }

void wait_for(cudaStream_t waiting, cudaStream_t other) {
  const cudaEvent_t event = new_event();
  EXPECT_EQ(cudaEventRecord(event, other), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(waiting, event, 0), cudaSuccess);
}

void fill(float* data, unsigned count, cudaStream_t stream) {
  EXPECT_EQ(cudaMemsetAsync(data, 0, count * sizeof(float), stream), cudaSuccess);
}

float* allocate_in(cudaStream_t stream) {
  float* data = nullptr;
  EXPECT_EQ(cudaMallocAsync(reinterpret_cast<void**>(&data), 16, stream), cudaSuccess);
  return data;
}

}  // namespace

TEST(SimulatedStreamToolDeathTest, TwoKernelsThatNothingOrders) {
  EXPECT_IN_CHILD("", {
    use_stream_tool();
    float* const data = device_floats(8, 1);
    const cudaStream_t first = new_stream();
    const cudaStream_t second = new_stream();
    add(data, 1, 4, first);
    add(data + 4, 1, 4, second);
    EXPECT_EQ(found(), "");  // of different bytes
    store(data, 3, 1, first);
    add(data, 1, 4, second);
    const std::string line = found();
    EXPECT_TRUE(line.starts_with("{\"tool\":\"stream\",\"kernel\":\"store\"")) << line;
    EXPECT_TRUE(has(line, "kernel store (st.global.f32) in stream ")) << line;
    EXPECT_TRUE(has(line, "use the same 4 bytes, at least one of them writes")) << line;
    EXPECT_TRUE(has(line, "\"other\":{\"instruction\":\"kernel add (st.global.f32)\",\"location\":\"line "))
        << line;
    EXPECT_TRUE(has(line, "\"bytes\":4,")) << line;
    EXPECT_EQ(take_finding(), "");
  });
}

TEST(SimulatedStreamToolDeathTest, AnEventOrders) {
  EXPECT_IN_CHILD("", {
    use_stream_tool();
    float* const data = device_floats(4, 1);
    const cudaStream_t first = new_stream();
    const cudaStream_t second = new_stream();
    const cudaStream_t third = new_stream();
    add(data, 1, 4, first);
    wait_for(second, first);
    add(data, 1, 4, second);
    wait_for(third, second);
    add(data, 1, 4, third);
    EXPECT_EQ(found(), "");
    // By way of a stream that does nothing else.
    add(data, 1, 4, first);
    wait_for(second, first);
    wait_for(third, second);
    add(data, 1, 4, third);
    EXPECT_EQ(found(), "");
    // An event that was recorded before the operation does not order it.
    wait_for(second, first);
    add(data, 1, 4, first);
    add(data, 1, 4, second);
    EXPECT_TRUE(has(found(), "\"tool\":\"stream\""));
  });
}

TEST(SimulatedStreamToolDeathTest, TheDefaultStreamOrdersBlockingStreams) {
  EXPECT_IN_CHILD("", {
    use_stream_tool();
    float* const data = device_floats(4, 1);
    const cudaStream_t blocking = new_stream(cudaStreamDefault);
    const cudaStream_t other = new_stream(cudaStreamDefault);
    add(data, 1, 4, blocking);
    add(data, 1, 4);
    add(data, 1, 4, other);
    EXPECT_EQ(found(), "");
    add(data, 1, 4);
    add(data, 1, 4, new_stream());
    EXPECT_TRUE(has(found(), "in stream 1"));
  });
}

TEST(SimulatedStreamToolDeathTest, TheHostOrdersWhatItWaitsFor) {
  EXPECT_IN_CHILD("", {
    use_stream_tool();
    float* const data = device_floats(4, 1);
    const cudaStream_t first = new_stream();
    const cudaStream_t second = new_stream();
    add(data, 1, 4, first);
    EXPECT_EQ(cudaStreamSynchronize(first), cudaSuccess);
    add(data, 1, 4, second);
    const cudaEvent_t event = new_event();
    EXPECT_EQ(cudaEventRecord(event, second), cudaSuccess);
    EXPECT_EQ(cudaEventSynchronize(event), cudaSuccess);
    add(data, 1, 4, first);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    add(data, 1, 4, second);
    while (cudaStreamQuery(second) != cudaSuccess) {
    }
    add(data, 1, 4, first);
    EXPECT_EQ(cudaEventRecord(event, first), cudaSuccess);
    while (cudaEventQuery(event) != cudaSuccess) {
    }
    add(data, 1, 4, second);
    EXPECT_EQ(found(), "");
    add(data, 1, 4, second);
    EXPECT_EQ(cudaStreamSynchronize(first), cudaSuccess);  // of the wrong stream
    add(data, 1, 4, first);
    EXPECT_TRUE(has(found(), "\"tool\":\"stream\""));
  });
}

TEST(SimulatedStreamToolDeathTest, CopiesAndFills) {
  EXPECT_IN_CHILD("", {
    use_stream_tool();
    float* const data = device_floats(4, 1);
    float* const host = pinned_floats(4, 0);
    const cudaStream_t first = new_stream();
    const cudaStream_t second = new_stream();
    const auto to_host = [&](cudaStream_t stream) {
      EXPECT_EQ(cudaMemcpyAsync(host, data, 16, cudaMemcpyDeviceToHost, stream), cudaSuccess);
    };
    fill(data, 4, first);
    wait_for(second, first);
    to_host(second);
    EXPECT_EQ(found(), "");
    fill(data, 4, first);
    to_host(second);
    const std::string line = found();
    EXPECT_TRUE(has(line, "a fill in stream ") && has(line, " a copy in stream ")) << line;
    EXPECT_TRUE(has(line, "\"kernel\":\"\"")) << line;
    // Both only read device memory, and write the host's.
    to_host(first);
    to_host(second);
    EXPECT_TRUE(has(found(), "a copy in stream "));
    // A copy that makes the host wait.
    fill(data, 4, first);
    float result = 0;
    EXPECT_EQ(cudaMemcpyAsync(&result, data, 4, cudaMemcpyDeviceToHost, first), cudaSuccess);
    EXPECT_EQ(cudaMemcpyAsync(data, host, 16, cudaMemcpyHostToDevice, second), cudaSuccess);
    EXPECT_EQ(found(), "");
  });
}

TEST(SimulatedStreamToolDeathTest, TwoReadsNeedNoOrder) {
  EXPECT_IN_CHILD("", {
    use_stream_tool();
    float* const data = device_floats(4, 1);
    float* const to = device_floats(8, 1);
    const cudaStream_t first = new_stream();
    const cudaStream_t second = new_stream();
    EXPECT_EQ(cudaMemcpyAsync(to, data, 16, cudaMemcpyDeviceToDevice, first), cudaSuccess);
    EXPECT_EQ(cudaMemcpyAsync(to + 4, data, 16, cudaMemcpyDeviceToDevice, second), cudaSuccess);
    EXPECT_EQ(found(), "");
  });
}

TEST(SimulatedStreamToolDeathTest, AWriteComesAfterAllReads) {
  EXPECT_IN_CHILD("", {
    use_stream_tool();
    setenv("OPGATE_SIM_EAGER", "1", 1);  // the reads happen first
    float* const data = device_floats(4, 1);
    float* const to = device_floats(8, 1);
    const cudaStream_t first = new_stream();
    const cudaStream_t second = new_stream();
    const auto read_in_both = [&] {
      EXPECT_EQ(cudaMemcpyAsync(to, data, 16, cudaMemcpyDeviceToDevice, first), cudaSuccess);
      EXPECT_EQ(cudaMemcpyAsync(to + 4, data, 16, cudaMemcpyDeviceToDevice, second), cudaSuccess);
    };
    const cudaStream_t third = new_stream();
    read_in_both();
    wait_for(third, first);
    wait_for(third, second);
    fill(data, 4, third);
    EXPECT_EQ(found(), "");
    read_in_both();
    wait_for(third, second);
    fill(data, 4, third);
    EXPECT_TRUE(has(found(), "a fill in stream "));
  });
}

TEST(SimulatedStreamToolDeathTest, AtomicAccessesNeedNoOrder) {
  EXPECT_IN_CHILD("", {
    use_stream_tool();
    float* data = device_floats(4, 0);
    const cudaStream_t first = new_stream();
    const cudaStream_t second = new_stream();
    launch(&symbols().count, {&data}, first);
    launch(&symbols().count, {&data}, second);
    EXPECT_EQ(found(), "");
    launch(&symbols().count, {&data}, first);
    add(data, 1, 4, second);
    EXPECT_TRUE(has(found(), "use the same 4 bytes"));
  });
}

TEST(SimulatedStreamToolDeathTest, GraphsAreOperationsOfTheirStream) {
  EXPECT_IN_CHILD("", {
    use_stream_tool();
    float* const data = device_floats(4, 0);
    const cudaStream_t first = new_stream();
    const cudaStream_t second = new_stream();
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t program = nullptr;
    EXPECT_EQ(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal), cudaSuccess);
    add(data, 1, 4, first);
    EXPECT_EQ(cudaStreamEndCapture(first, &graph), cudaSuccess);
    EXPECT_EQ(cudaGraphInstantiate(&program, graph, 0), cudaSuccess);
    EXPECT_EQ(cudaGraphLaunch(program, first), cudaSuccess);
    wait_for(second, first);
    add(data, 1, 4, second);
    EXPECT_EQ(found(), "");
    EXPECT_EQ(cudaGraphLaunch(program, first), cudaSuccess);
    add(data, 1, 4, second);
    EXPECT_TRUE(has(found(), "kernel add (st.global.f32) in stream "));
  });
}

TEST(SimulatedStreamToolDeathTest, FreedTooEarly) {
  EXPECT_IN_CHILD("", {
    use_stream_tool();
    const cudaStream_t stream = new_stream();
    const cudaStream_t blocking = new_stream(cudaStreamDefault);
    float* data = device_floats(4, 1);
    add(data, 1, 4, blocking);
    EXPECT_EQ(cudaFree(data), cudaSuccess);
    data = device_floats(4, 1);
    add(data, 1, 4, stream);
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    EXPECT_EQ(cudaFree(data), cudaSuccess);
    EXPECT_EQ(found(), "");
    // One stream alone has used it.
    EXPECT_EQ(cudaMalloc(reinterpret_cast<void**>(&data), 16), cudaSuccess);
    fill(data, 4, stream);
    EXPECT_EQ(cudaFree(data), cudaSuccess);
    // An allocator waits for it.
    data = device_floats(4, 1);
    EXPECT_EQ(opgate_sim_will_wait(data + 1, stream), cudaSuccess);
    add(data, 1, 4, stream);
    EXPECT_EQ(cudaFree(data), cudaSuccess);
    EXPECT_EQ(found(), "");
    data = device_floats(4, 1);
    add(data, 1, 4, stream);
    EXPECT_EQ(cudaFree(data), cudaSuccess);
    const std::string line = found();
    EXPECT_TRUE(has(line, "cudaFree by the host and kernel add (st.global.f32) in stream ")) << line;
  });
}

// On a device it does in most cases, but nothing promises it.
TEST(SimulatedStreamToolDeathTest, ACallOfCudaFreeOrdersNothing) {
  EXPECT_IN_CHILD("", {
    use_stream_tool();
    float* const data = device_floats(4, 1);
    float* const other = device_floats(4, 1);
    add(data, 1, 4, new_stream());
    EXPECT_EQ(cudaFree(other), cudaSuccess);
    add(data, 1, 4, new_stream());
    EXPECT_TRUE(has(found(), "kernel add"));
  });
}

TEST(SimulatedStreamToolDeathTest, PinnedMemoryThatIsNew) {
  EXPECT_IN_CHILD("", {
    use_stream_tool();
    float* const data = device_floats(4, 1);
    for (int i = 0; i < 3; ++i) {
      float* const host = pinned_floats(4, 0);  // at an address that was used before
      const cudaStream_t stream = new_stream();
      EXPECT_EQ(cudaMemcpyAsync(host, data, 16, cudaMemcpyDeviceToHost, stream), cudaSuccess);
      EXPECT_EQ(cudaFreeHost(host), cudaSuccess);
    }
    EXPECT_EQ(found(), "");
  });
}

TEST(SimulatedStreamToolDeathTest, MemoryInTheOrderOfStreams) {
  EXPECT_IN_CHILD("", {
    use_stream_tool();
    const cudaStream_t first = new_stream();
    const cudaStream_t second = new_stream();
    float* data = allocate_in(first);
    wait_for(second, first);
    fill(data, 4, second);
    wait_for(first, second);
    EXPECT_EQ(cudaFreeAsync(data, first), cudaSuccess);
    data = allocate_in(first);
    EXPECT_EQ(cudaStreamSynchronize(first), cudaSuccess);
    fill(data, 4, second);
    EXPECT_EQ(found(), "");
    fill(data, 4, second);
    EXPECT_EQ(cudaStreamQuery(second), cudaErrorNotReady);  // lets it run
    EXPECT_EQ(cudaFreeAsync(data, first), cudaSuccess);
    std::string line = found();
    EXPECT_TRUE(has(line, "cudaFreeAsync in stream ") && has(line, " a fill in stream ")) << line;
    data = allocate_in(first);
    fill(data, 4, second);
    line = found();
    EXPECT_TRUE(has(line, "cudaMallocAsync in stream ")) << line;
  });
}

TEST(SimulatedStreamToolDeathTest, NothingWithoutIt) {
  EXPECT_IN_CHILD("", {
    setenv("OPGATE_SIM_TOOLS", "init,race,sync", 1);
    float* const data = device_floats(4, 1);
    add(data, 1, 4, new_stream());
    add(data, 1, 4, new_stream());
    EXPECT_EQ(found(), "");
  });
}
