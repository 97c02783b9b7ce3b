// One worker from the supervisor's side: when it is started, and how it is let go.
#include <gtest/gtest.h>

#include <chrono>

#include "judging/all_checks.h"
#include "run/worker_handle.h"
#include "support.h"

namespace opgate::worker_handle_test {
namespace {

using std::chrono::steady_clock;
using testing::spec_of;
using testing::TemporaryFolder;

// A process that is asked to exit has ten seconds before it is killed; one that is killed needs none of them.
constexpr std::chrono::seconds kShutdownTimeout{10};

class WorkerHandleTest : public ::testing::Test {
 protected:
  WorkerHandleTest()
      : specs_{spec_of("aten::neg", {{uniform({3})}})},
        checks_(native_checks()),
        plan_(make_plan(specs_, checks_)),
        todo_(plan_.calls, {}),
        queue_(Worker::native, plan_.calls, todo_, std::chrono::seconds(600), 1,
               [](Calls::Position, const Check&, const Judgement&) {}) {}

  WorkerHandle handle(const std::string& script) const {
    return WorkerHandle({{{"/bin/sh", "-c", script}, {}}, folder_ / "log", {}});
  }

  TemporaryFolder folder_;
  std::vector<Spec> specs_;
  std::vector<Check> checks_;
  Plan plan_;
  CaseSet todo_;
  Queue queue_;
};

// Two Python workers share a queue: the second may still import torch when the first has done everything.
TEST_F(WorkerHandleTest, AWorkerThatHasNotAnsweredYetIsEndedAtOnce) {
  WorkerHandle worker = handle("exec sleep 600");
  worker.start();
  const auto begin = steady_clock::now();
  worker.dismiss();
  EXPECT_LT(steady_clock::now() - begin, kShutdownTimeout);
  EXPECT_EQ(worker.answers(), -1);
}

// A full pipe that nobody reads would keep the process from noticing that its stdin has ended.
TEST_F(WorkerHandleTest, AWorkerWhoseAnswersAreNotReadIsNotWaitedFor) {
  WorkerHandle worker = handle(
      "read setup; echo '{\"ready\": {}}' >&3; read end; "
      "exec 2>/dev/null; while echo 0123456789012345678901234567890123456789 >&3; do :; done");
  worker.start();
  worker.await_ready();
  const auto begin = steady_clock::now();
  worker.close();
  worker.dismiss();
  EXPECT_LT(steady_clock::now() - begin, kShutdownTimeout);
}

TEST_F(WorkerHandleTest, AWorkerWithAConditionIsStartedOnceItHolds) {
  WorkerHandle worker = handle("exec sleep 600");
  worker.work_on({&queue_}, 1, {}, [](const nlohmann::json&, const std::string&) {});
  bool wanted = false;
  worker.start_only_when([&] { return wanted; });
  worker.feed();
  EXPECT_EQ(worker.answers(), -1);
  EXPECT_FALSE(worker.finished());
  wanted = true;
  worker.feed();
  EXPECT_NE(worker.answers(), -1);
  EXPECT_FALSE(worker.is_ready());
  worker.dismiss();
}

}  // namespace
}  // namespace opgate::worker_handle_test
