// Launches with programmatic stream serialization: when the kernel before one may still run. Each test is a
// process of its own, because the environment is read once.
#include <cuda.h>

#include <string>

#include "device_code.h"
#include "take_finding.h"

using namespace simulated;

namespace {

void use_race_tool() { setenv("OPGATE_SIM_TOOLS", "race", 1); }

/// Adds 1 to `data`, and does not wait for the kernel before.
void add_early(float* data, cudaStream_t stream = nullptr, int allowed = 1) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = allowed;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(1);
  config.blockDim = dim3(64);
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  float value = 1;
  unsigned count = 4;
  std::vector<void*> arguments{&data, &value, &count};
  EXPECT_EQ(cudaLaunchKernelExC(&config, &symbols().add, arguments.data()), cudaSuccess);
}

void add_early_by_driver(CUfunction kernel, float* data) {
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  attribute.value.programmaticStreamSerializationAllowed = 1;
  CUlaunchConfig config{};
  config.gridDimX = config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = 4;
  config.blockDimY = config.blockDimZ = 1;
  config.attrs = &attribute;
  config.numAttrs = 1;
  float value = 1;
  unsigned count = 4;
  std::vector<void*> arguments{&data, &value, &count};
  EXPECT_EQ(cuLaunchKernelEx(&config, kernel, arguments.data(), nullptr), CUDA_SUCCESS);
}

/// As an operator of ATen, which the CPU executes.
void run_on_cpu(const char* name, const OpgateSimAccess& access) {
  EXPECT_EQ(opgate_sim_launch(
                nullptr, [](void*) {}, nullptr, name, &access, 1),
            cudaSuccess);
}

/// What has been found when all is done.
std::string found() {
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  return take_finding();
}

void expect_race(const std::string& line, const std::string& before) {
  EXPECT_TRUE(line.starts_with("{\"tool\":\"race\",\"kernel\":\"add\"")) << line;
  EXPECT_NE(line.find("of a kernel before"), std::string::npos) << line;
  EXPECT_NE(line.find("\"kernel\":\"" + before + "\",\"block\""), std::string::npos) << line;
  while (!take_finding().empty()) {
  }
}

}  // namespace

TEST(SimulatedDependentLaunchDeathTest, TheKernelBeforeMayStillRun) {
  EXPECT_IN_CHILD("", {
    use_race_tool();
    float* const data = device_floats(4, 1);
    store(data, 0, 5);
    add_early(data);
    expect_race(found(), "store");
    EXPECT_EQ(value_at(data), 6);
    store(data, 0, 5);
    add_early(data, nullptr, 0);
    EXPECT_EQ(found(), "");
  });
}

TEST(SimulatedDependentLaunchDeathTest, WhatEndsTheKernelBefore) {
  EXPECT_IN_CHILD("", {
    use_race_tool();
    float* const data = device_floats(4, 1);
    const cudaStream_t stream = new_stream();
    store(data, 0, 5, stream);
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    add_early(data, stream);
    EXPECT_EQ(found(), "");  // the host has waited
    store(data, 0, 5, stream);
    EXPECT_EQ(cudaMemsetAsync(data + 3, 0, 4, stream), cudaSuccess);
    add_early(data, stream);
    EXPECT_EQ(found(), "");  // a fill begins when all before it has ended
    store(data, 0, 5, stream);
    const cudaStream_t other = new_stream();
    const cudaEvent_t event = new_event();
    EXPECT_EQ(cudaEventRecord(event, stream), cudaSuccess);
    EXPECT_EQ(cudaStreamWaitEvent(other, event, 0), cudaSuccess);
    add_early(data, other);
    EXPECT_EQ(found(), "");
    // Operations of other streams in between end nothing.
    store(data, 0, 5, stream);
    EXPECT_EQ(cudaMemsetAsync(data + 4, 0, 0, other), cudaSuccess);
    add_early(data, stream);
    EXPECT_EQ(cudaStreamSynchronize(other), cudaSuccess);
    expect_race(found(), "store");
  });
}

TEST(SimulatedDependentLaunchDeathTest, InAGraph) {
  EXPECT_IN_CHILD("", {
    use_race_tool();
    float* const data = device_floats(4, 1);
    const cudaStream_t stream = new_stream();
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t program = nullptr;
    EXPECT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
    add_early(data, stream);  // begins with the graph, which begins when all before it has ended
    store(data + 1, 0, 5, stream);
    EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    EXPECT_EQ(cudaGraphInstantiate(&program, graph, 0), cudaSuccess);
    store(data, 0, 5, stream);
    EXPECT_EQ(cudaGraphLaunch(program, stream), cudaSuccess);
    EXPECT_EQ(found(), "");
    EXPECT_EQ(cudaGraphLaunch(program, stream), cudaSuccess);
    add_early(data, stream);
    EXPECT_EQ(found(), "");
    EXPECT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
    store(data, 0, 5, stream);
    add_early(data, stream);
    EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    EXPECT_EQ(cudaGraphInstantiate(&program, graph, 0), cudaSuccess);
    EXPECT_EQ(cudaGraphLaunch(program, stream), cudaSuccess);
    expect_race(found(), "store");
  });
}

TEST(SimulatedDependentLaunchDeathTest, BehindAKernelOfTheCpu) {
  EXPECT_IN_CHILD("", {
    use_race_tool();
    float* const data = device_floats(4, 1);
    run_on_cpu("aten::sum", {data, 16, 0});
    add_early(data);
    EXPECT_EQ(found(), "");
    run_on_cpu("aten::relu_", {data, 16, 1});
    add_early(data);
    EXPECT_NE(found().find("races with aten::relu_ of"), std::string::npos);
  });
}

TEST(SimulatedDependentLaunchDeathTest, ThroughTheDriver) {
  EXPECT_IN_CHILD("", {
    use_race_tool();
    float* const data = device_floats(4, 1);
    cudaKernel_t kernel = nullptr;
    EXPECT_EQ(cudaGetKernel(&kernel, &symbols().add), cudaSuccess);
    store(data, 0, 5);
    add_early_by_driver(reinterpret_cast<CUfunction>(kernel), data);
    expect_race(found(), "store");
  });
}
