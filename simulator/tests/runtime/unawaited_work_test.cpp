// Work that the host does not wait for by a function of CUDA runs at last, and not before the program can do
// nothing but wait for it.
#include <chrono>
#include <condition_variable>
#include <ctime>
#include <mutex>
#include <thread>

#include <opgate_sim.h>
#include "device_code.h"

namespace simulated::unawaited_work_test {
namespace {

/// What threads wait for.
class Signal {
 public:
  void give() {
    const std::lock_guard lock(mutex_);
    is_given_ = true;
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_given_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_given_ = false;
};

void give(void* signal) { static_cast<Signal*>(signal)->give(); }

// Seconds that this thread has computed.
double computed() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

TEST(UnawaitedWork, AFunctionOfTheHostIsCalled) {
  float* const pinned = pinned_floats(1, 1);
  const cudaStream_t stream = new_stream();
  Signal signal;
  add(pinned, 1, 1, stream);
  ASSERT_EQ(cudaLaunchHostFunc(stream, &give, &signal), cudaSuccess);
  signal.wait();
  EXPECT_EQ(*pinned, 2);
}

TEST(UnawaitedWork, ACallbackIsCalledWhileAnotherThreadWaitsForItself) {
  const cudaStream_t stream = new_stream();
  Signal signal;
  Signal end;
  std::thread other([&] { end.wait(); });
  ASSERT_EQ(cudaStreamAddCallback(
                stream, [](cudaStream_t, cudaError_t, void* data) { give(data); }, &signal, 0),
            cudaSuccess);
  signal.wait();
  end.give();
  other.join();
}

TEST(UnawaitedWork, AHostThatLooksAgainAndAgainSeesWhatAKernelWrites) {
  float* const pinned = pinned_floats(1, 1);
  add(pinned, 1, 1, new_stream());
  const volatile float* const seen = pinned;
  while (*seen == 1) {
  }
  EXPECT_EQ(*seen, 2);
}

TEST(UnawaitedWork, DoesNotRunWhileTheHostComputes) {
  float* const pinned = pinned_floats(1, 1);
  const cudaStream_t stream = new_stream();
  add(pinned, 1, 1, stream);
  for (const double begin = computed(); computed() < begin + 1;) {
  }
  EXPECT_EQ(*pinned, 1) << "the program has forgotten to wait, which must show";
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(*pinned, 2);
}

TEST(UnawaitedWork, DoesNotRunWhileTheHostSleeps) {
  float* const pinned = pinned_floats(1, 1);
  const cudaStream_t stream = new_stream();
  add(pinned, 1, 1, stream);
  std::this_thread::sleep_for(std::chrono::seconds(1));
  EXPECT_EQ(*pinned, 1);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
}

// The thread that computes has never called CUDA.
TEST(UnawaitedWork, DoesNotRunWhileTheHostWaitsForAThreadThatComputes) {
  float* const pinned = pinned_floats(1, 1);
  const cudaStream_t stream = new_stream();
  add(pinned, 1, 1, stream);
  std::thread([] {
    for (const double begin = computed(); computed() < begin + 0.5;) {
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  }).join();
  EXPECT_EQ(*pinned, 1);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
}

TEST(UnawaitedWork, LeavesStreamsAloneThatAreHeldUp) {
  float* const pinned = pinned_floats(1, 1);
  const cudaStream_t held_up = new_stream();
  ASSERT_EQ(opgate_sim_hold_up(held_up), cudaSuccess);
  add(pinned, 1, 1, held_up);
  const cudaStream_t stream = new_stream();
  Signal signal;
  // It waits for the stream that is held up, so that it cannot run either.
  const cudaEvent_t event = new_event();
  ASSERT_EQ(cudaEventRecord(event, held_up), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(stream, event), cudaSuccess);
  ASSERT_EQ(cudaLaunchHostFunc(stream, &give, &signal), cudaSuccess);
  Signal of_another;
  ASSERT_EQ(cudaLaunchHostFunc(new_stream(), &give, &of_another), cudaSuccess);
  of_another.wait();
  EXPECT_EQ(*pinned, 1);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  signal.wait();
  EXPECT_EQ(*pinned, 2);
}

// A function of the first stream runs, and what comes after it waits for the second stream, whose work waits
// for that function. A search for work meanwhile must come to an end.
TEST(UnawaitedWorkDeathTest, StreamsWaitForEachOtherByTurnsWhileAnOperationRuns) {
  EXPECT_IN_CHILD("", {
    const cudaStream_t first = new_stream();
    const cudaStream_t second = new_stream();
    static int called = 0;
    const auto sleep = [](void*) {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      ++called;
    };
    const auto call = [](void*) { ++called; };
    const cudaEvent_t event = new_event();
    EXPECT_EQ(cudaLaunchHostFunc(first, sleep, nullptr), cudaSuccess);
    EXPECT_EQ(cudaEventRecord(event, first), cudaSuccess);
    EXPECT_EQ(cudaStreamWaitEvent(second, event), cudaSuccess);
    EXPECT_EQ(cudaLaunchHostFunc(second, call, nullptr), cudaSuccess);
    EXPECT_EQ(cudaEventRecord(event, second), cudaSuccess);
    EXPECT_EQ(cudaStreamWaitEvent(first, event), cudaSuccess);
    EXPECT_EQ(cudaLaunchHostFunc(first, call, nullptr), cudaSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(called, 3);
    std::exit(::testing::Test::HasFailure() ? 1 : 0);
  });
}

TEST(UnawaitedWorkDeathTest, TheProcessEndsWhileItRuns) {
  EXPECT_IN_CHILD("", {
    static Signal begun;
    static Signal end;
    EXPECT_EQ(cudaLaunchHostFunc(
                  new_stream(),
                  [](void*) {
                    begun.give();
                    end.wait();
                  },
                  nullptr),
              cudaSuccess);
    begun.wait();
    end.give();
    std::exit(::testing::Test::HasFailure() ? 1 : 0);
  });
}

}  // namespace
}  // namespace simulated::unawaited_work_test
