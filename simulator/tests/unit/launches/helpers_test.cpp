// Threads that help to run large launches.
#include "machine/launches/helpers.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

namespace opgate::simulator::tests {
namespace helpers_test {

/// Gives up after a time in which each thread has had its turn on any machine.
bool wait_for(const std::atomic<bool>& flag) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!flag && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return flag;
}

/// Whether a helper comes while the own work goes on.
bool is_helped(const std::function<void()>& helping = [] {}) {
  std::atomic<bool> came{false};
  bool has_seen = false;
  do_with_helpers(
      1, [&] { has_seen = wait_for(came); },
      [&] {
        helping();
        came = true;
      });
  return has_seen;
}

TEST(Helpers, WorkBesideTheThreadThatAsks) { EXPECT_TRUE(is_helped()); }

TEST(Helpers, ThatHaveNotBegunAreNotWaitedFor) {
  std::atomic<bool> is_busy{false};
  std::atomic<bool> may_end{false};
  std::thread other([&] {
    do_with_helpers(
        1, [&] { wait_for(is_busy); },
        [&] {
          is_busy = true;
          wait_for(may_end);
        });
  });
  ASSERT_TRUE(wait_for(is_busy));
  std::atomic<int> helped{0};
  bool is_done = false;
  do_with_helpers(
      1, [&] { is_done = true; }, [&] { ++helped; });
  EXPECT_TRUE(is_done);
  may_end = true;
  other.join();
  EXPECT_TRUE(is_helped()) << "they are free again";
  EXPECT_EQ(helped, 0);
}

TEST(Helpers, PassOnWhatIsThrown) {
  std::atomic<bool> came{false};
  const auto own = [&] { wait_for(came); };
  const auto helping = [&] {
    came = true;
    throw std::runtime_error("of a helper");
  };
  EXPECT_THROW(do_with_helpers(1, own, helping), std::runtime_error);
  EXPECT_THROW(do_with_helpers(
                   1, [] { throw std::logic_error("own"); }, [] {}),
               std::logic_error);
  EXPECT_TRUE(is_helped());
}

TEST(Helpers, GetNoSignalsOfTheProgram) {
  sigset_t blocked;
  sigemptyset(&blocked);
  ASSERT_TRUE(is_helped([&] { pthread_sigmask(SIG_BLOCK, nullptr, &blocked); }));
  EXPECT_TRUE(sigismember(&blocked, SIGTERM));
  EXPECT_TRUE(sigismember(&blocked, SIGALRM));
  EXPECT_FALSE(sigismember(&blocked, SIGSEGV));
  sigset_t own;
  pthread_sigmask(SIG_BLOCK, nullptr, &own);
  EXPECT_FALSE(sigismember(&own, SIGTERM));
}

// A child process has none of the threads of its parent.
TEST(Helpers, BeginAnewInAChildProcess) {
  ASSERT_TRUE(is_helped());
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) _exit(is_helped() ? 0 : 1);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

}  // namespace helpers_test
}  // namespace opgate::simulator::tests
