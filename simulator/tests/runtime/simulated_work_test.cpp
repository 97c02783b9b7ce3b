// What OpGate itself asks of the runtime: producers that take long, and devices that work again after a
// failure.
#include <opgate_sim.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <string>
#include <thread>

#include "device_code.h"

using namespace simulated;

namespace {

struct Told {
  int kind = 0;
  std::string text;
};

Told take_failure() {
  std::array<char, 1024> text{};
  const int kind = opgate_sim_take_failure(text.data(), text.size());
  return {kind, text.data()};
}

}  // namespace

TEST(SimulatedOperators, RunAtOnceOrInOrderAsLastAsked) {
  EXPECT_EQ(opgate_sim_aten_at_once(), 0);
  opgate_sim_run_aten_at_once(1);
  EXPECT_EQ(opgate_sim_aten_at_once(), 1);
  opgate_sim_run_aten_at_once(-1);  // as the environment says
  EXPECT_EQ(opgate_sim_aten_at_once(), 0);
}

TEST(SimulatedHoldUp, OtherStreamsRunAtOnce) {
  float* const data = device_floats(1, 0);
  float* const seen = pinned_floats(1, -1);
  const cudaStream_t producer = new_stream();
  const cudaStream_t reader = new_stream();
  ASSERT_EQ(opgate_sim_hold_up(producer), cudaSuccess);
  store(data, 0, 5, producer);
  ASSERT_EQ(cudaMemcpyAsync(seen, data, 4, cudaMemcpyDeviceToHost, reader), cudaSuccess);
  EXPECT_EQ(*seen, 0);  // it has run already, before the producer
  ASSERT_EQ(cudaStreamSynchronize(producer), cudaSuccess);
  EXPECT_EQ(value_at(data), 5);
}

TEST(SimulatedHoldUp, WhatWaitsForTheProducerIsHeldUpToo) {
  float* const data = device_floats(1, 0);
  float* const seen = pinned_floats(1, -1);
  const cudaStream_t producer = new_stream();
  const cudaStream_t reader = new_stream();
  const cudaEvent_t event = new_event(cudaEventDisableTiming);
  ASSERT_EQ(opgate_sim_hold_up(producer), cudaSuccess);
  store(data, 0, 5, producer);
  ASSERT_EQ(cudaEventRecord(event, producer), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(reader, event, 0), cudaSuccess);
  ASSERT_EQ(cudaMemcpyAsync(seen, data, 4, cudaMemcpyDeviceToHost, reader), cudaSuccess);
  EXPECT_EQ(*seen, -1);
  ASSERT_EQ(cudaStreamSynchronize(reader), cudaSuccess);
  EXPECT_EQ(*seen, 5);
}

TEST(SimulatedHoldUp, EndsWhereAProgramPolls) {
  const cudaStream_t producer = new_stream();
  float* const data = device_floats(1, 0);
  ASSERT_EQ(opgate_sim_hold_up(producer), cudaSuccess);
  store(data, 0, 5, producer);
  int queries = 0;
  while (cudaStreamQuery(producer) == cudaErrorNotReady) ASSERT_LT(++queries, 10);
  EXPECT_EQ(queries, 2);
}

TEST(SimulatedFailure, IsToldOnceAndLeavesADeviceThatWorks) {
  take_failure();  // of other tests
  float* const data = device_floats(4, 1);
  store(data, 4, 1);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  const Told told = take_failure();
  EXPECT_EQ(told.kind, 1);
  EXPECT_TRUE(
      told.text.starts_with("an illegal memory access was encountered\nst.global.f32 of 4 bytes at 0x"))
      << told.text;
  EXPECT_NE(told.text.find("past the end of an allocation of 16 bytes by 4"), std::string::npos) << told.text;
  EXPECT_TRUE(told.text.ends_with("\nstore\nline 43 of the PTX")) << told.text;
  EXPECT_EQ(take_failure().kind, 0);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  store(data, 3, 7);
  EXPECT_EQ(value_at(data, 3), 7);
}

TEST(SimulatedFailure, IsOfTheCallsBeforeEvenIfNobodyHasWaitedForThem) {
  take_failure();  // of other tests
  float* const data = device_floats(4, 1);
  store(data, 4, 1);
  store(data, 4, 1, new_stream());
  EXPECT_EQ(take_failure().kind, 1);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(take_failure().kind, 0);
}

// Kind 2: nothing is wrong with the operator, and its case is owed.
TEST(SimulatedFailure, IsKnownOfAFunctionOfTheDriver) {
  take_failure();  // of other tests
  void* function = nullptr;
  ASSERT_EQ(cudaGetDriverEntryPointByVersion("cuGreenCtxCreate", &function, 12000, 0, nullptr), cudaSuccess);
  EXPECT_EQ(reinterpret_cast<int (*)()>(function)(), cudaErrorNotSupported);
  const Told told = take_failure();
  EXPECT_EQ(told.kind, 2);
  EXPECT_NE(told.text.find("cuGreenCtxCreate"), std::string::npos) << told.text;
}

TEST(SimulatedFailure, TheHostOutlivesWhatItDereferences) {
  EXPECT_IN_CHILD("the host dereferences device memory", {
    opgate_sim_survive_host_faults();
    float* const data = device_floats(4096, 1);
    const auto read = [&](int i) { return static_cast<volatile float*>(data)[i]; };
    EXPECT_EQ(read(0) + read(1) + read(2048), 0);
    static_cast<volatile float*>(data)[1] = 5;
    const Told told = take_failure();
    EXPECT_EQ(told.kind, 1);
    EXPECT_TRUE(told.text.starts_with(
        "an illegal memory access was encountered\nthe host dereferences device memory: "))
        << told.text;
    EXPECT_EQ(take_failure().kind, 0);
    EXPECT_EQ(value_at(data, 1), 1);  // the device's own memory is as it was
    EXPECT_EQ(read(1), 0);            // what the host has written is gone
    EXPECT_EQ(take_failure().kind, 1);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  });
}

TEST(SimulatedFailureDeathTest, TheHostDiesOfOtherAddresses) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        opgate_sim_survive_host_faults();
        device_floats(1, 0);
        *reinterpret_cast<volatile int*>(8) = 1;
      },
      ::testing::KilledBySignal(SIGSEGV), "");
}

TEST(SimulatedFailure, TellsWhatIsNotSimulated) {
  take_failure();  // of other tests
  EXPECT_EQ(cudaGraphDebugDotPrint(nullptr, "graph.dot", 0), cudaErrorNotSupported);
  const Told told = take_failure();
  EXPECT_EQ(told.kind, 2);
  EXPECT_NE(told.text.find("cudaGraphDebugDotPrint is not simulated"), std::string::npos) << told.text;
}

// On a busy machine each turn takes a time slice of other processes. Here the other thread computes, and
// calls nothing.
TEST(SimulatedTurns, AreGivenUpByAThreadThatHasWaitedLong) {
  std::atomic<bool> done = false;
  std::thread computing([&] {
    opgate_sim_join_turns(2, 1);
    while (!done) {
    }
    opgate_sim_leave_turns();
  });
  opgate_sim_join_turns(2, 0);
  const auto begin = std::chrono::steady_clock::now();
  void* data = nullptr;
  for (int call = 0; call < 100; ++call) ASSERT_EQ(cudaMalloc(&data, 4), cudaSuccess);
  const auto took = std::chrono::steady_clock::now() - begin;
  done = true;
  computing.join();
  opgate_sim_leave_turns();
  EXPECT_LT(took, std::chrono::seconds(5));  // a quarter of a second for each call without the limit
}
