// The limits on memory and processes. Each test runs in a process of its own, whose exit status is the
// result.
#include <ATen/Parallel.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/sum.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <new>
#include <thread>

#include "process/limits.h"

namespace opgate::limits_test {
namespace {

constexpr uint64_t kGiB = 1ull << 30;

class LimitsDeathTest : public ::testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

// Ends the process, with exit status 0 if `promise` holds.
[[noreturn]] void leave(bool promise) { std::_Exit(promise ? 0 : 1); }

bool fork_fails() {
  errno = 0;
  const pid_t child = fork();
  if (child == 0) std::_Exit(0);
  return child < 0 && errno == EAGAIN;
}

bool spawn_fails() {
  pid_t child = 0;
  char name[] = "true";
  char* const words[] = {name, nullptr};
  return posix_spawnp(&child, name, nullptr, nullptr, words, environ) == EAGAIN;
}

bool thread_runs() {
  bool ran = false;
  std::thread([&] { ran = true; }).join();
  return ran;
}

bool openmp_runs() {
  at::set_num_threads(4);
  return at::ones({1 << 20}, c10::kInt).sum().item<int64_t>() == 1 << 20;
}

TEST_F(LimitsDeathTest, ProcessesCannotBeStarted) {
  EXPECT_EXIT((forbid_processes(), leave(fork_fails())), ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT((forbid_processes(), leave(spawn_fails())), ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT((forbid_processes(), leave(std::system("true") != 0)), ::testing::ExitedWithCode(0), "");
}

TEST_F(LimitsDeathTest, ThreadsThatRanBeforeCannotStartProcessesEither) {
  EXPECT_EXIT(
      {
        bool failed = false;
        std::atomic<bool> forbidden = false;
        std::thread early([&] {
          while (!forbidden) std::this_thread::yield();
          failed = fork_fails();
        });
        forbid_processes();
        forbidden = true;
        early.join();
        leave(failed);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST_F(LimitsDeathTest, ThreadsCanBeStarted) {
  EXPECT_EXIT((forbid_processes(), leave(thread_runs())), ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT((forbid_processes(), leave(openmp_runs())), ::testing::ExitedWithCode(0), "");
}

TEST_F(LimitsDeathTest, MemoryBeyondTheLimitIsRefused) {
  EXPECT_EXIT((limit_memory(kGiB), leave(std::malloc(2 * kGiB) == nullptr)), ::testing::ExitedWithCode(0),
              "");
  EXPECT_EXIT((limit_memory(kGiB), leave(std::malloc(kGiB / 8) != nullptr)), ::testing::ExitedWithCode(0),
              "");
}

TEST_F(LimitsDeathTest, SharedReservationsDoNotCountAsMemory) {
  const auto reserve = [] {
    return mmap(nullptr, 64 * kGiB, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                0);
  };
  EXPECT_EXIT((limit_memory(kGiB), leave(reserve() != MAP_FAILED)), ::testing::ExitedWithCode(0), "");
}

TEST(MemoryNote, KnowsTheWordsOfAllocatorsAndNoOthers) {
  for (const char* said : {"terminate called after throwing an instance of 'std::bad_alloc'",
                           "DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes",
                           "fork: Cannot allocate memory"}) {
    EXPECT_THAT(memory_note(said, 3 * kGiB / 2),
                ::testing::HasSubstr("memory limit of 1.5 GiB (--memory-limit)"));
  }
  EXPECT_EQ(memory_note("Segmentation fault", kGiB), "");
}

}  // namespace
}  // namespace opgate::limits_test
