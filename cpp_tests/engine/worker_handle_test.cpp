// One worker from the supervisor's side: when it is started, and how it is let go.
#include <gtest/gtest.h>

#include <poll.h>

#include <array>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

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
        queue_(Worker::native, false, plan_.calls, todo_, std::chrono::seconds(600), 1,
               [](Calls::Position, const Check&, const Judgement&) {}) {}

  WorkerHandle handle(const std::string& script) const {
    return WorkerHandle({{{"/bin/sh", "-c", script}, {}}, folder_ / "log", {}});
  }

  // Gives the worker work and takes its answers until `done`.
  static void serve_until(WorkerHandle& worker, const std::function<bool()>& done) {
    while (!done()) {
      worker.feed();
      if (!worker.is_ready()) {
        worker.await_ready();
        continue;
      }
      std::array<pollfd, 1> waiting{{{worker.answers(), POLLIN, 0}}};
      if (poll(waiting.data(), waiting.size(), 100) > 0) worker.receive();
      worker.check_deadline();
    }
    worker.dismiss();
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

// An earlier call's words, which C's stdio may have held back, are no words of the call that ends the worker.
TEST_F(WorkerHandleTest, ACrashQuotesNothingThatAnEarlierCallPrinted) {
  std::vector<Judgement> judgements;
  WorkerHandle worker = handle(
      "read setup; echo '{\"ready\": {}}' >&3; read job; echo early; "
      "echo '{\"ran\":0,\"printed\":6}' >&3; read job; echo late; exit 7");
  WorkerHandle::Listener listener;
  listener.verdict = [&](Calls::Position call, const Check& check, const Judgement& judgement) {
    judgements.push_back(judgement);
    todo_.remove(call, check);
  };
  Queue queue(Worker::native, false, plan_.calls, todo_, std::chrono::seconds(600), 1, listener.verdict);
  worker.work_on({&queue}, 1, listener, [](const nlohmann::json&, const std::string&) {});
  const auto crashed = [&] { return std::ranges::find(judgements, Verdict::crash, &Judgement::verdict); };
  serve_until(worker, [&] { return crashed() != judgements.end(); });
  EXPECT_TRUE(crashed()->reason.ends_with("it last printed: late")) << crashed()->reason;
}

// Answers that are not of the job that the worker was given. None of them may count as a verdict.
class OutOfStepTest : public WorkerHandleTest, public ::testing::WithParamInterface<std::string> {};

TEST_P(OutOfStepTest, IsACrashOfTheWorkerAndNoPass) {
  std::vector<Judgement> judgements;
  WorkerHandle worker =
      handle("read setup; echo '{\"ready\": {}}' >&3; read job; echo '" + GetParam() + "' >&3; read end");
  Queue queue(Worker::native, false, plan_.calls, todo_, std::chrono::seconds(600), 1,
              [&](Calls::Position call, const Check& check, const Judgement& judgement) {
                judgements.push_back(judgement);
                todo_.remove(call, check);
              });
  WorkerHandle::Listener listener;
  listener.verdict = [&](Calls::Position call, const Check& check, const Judgement& judgement) {
    judgements.push_back(judgement);
    todo_.remove(call, check);
  };
  worker.work_on({&queue}, 1, listener, [](const nlohmann::json&, const std::string&) {});
  serve_until(worker, [&] { return !judgements.empty(); });
  EXPECT_EQ(judgements.front().verdict, Verdict::crash);
  EXPECT_NE(judgements.front().reason.find("which is not what it was asked"), std::string::npos)
      << judgements.front().reason;
}

INSTANTIATE_TEST_SUITE_P(Each, OutOfStepTest,
                         ::testing::Values(R"({"ran":1})", R"({"ran":4294967296})",
                                           R"({"ran":"neg/float32"})", R"({"packaged":"cpu"})", "{}",
                                           R"({"ready":{}})", R"({"judgements":{}})"));

TEST_F(WorkerHandleTest, AVerdictThatDoesNotExistIsACrashOfTheWorker) {
  const std::string check = plan_.calls.checks(0).front()->name;
  const std::string answer = R"({"ran":0,"judgements":{")" + check + R"(":{"verdict":"bogus"}}})";
  std::vector<Judgement> judgements;
  WorkerHandle worker =
      handle("read setup; echo '{\"ready\": {}}' >&3; read job; echo '" + answer + "' >&3; read end");
  WorkerHandle::Listener listener;
  listener.verdict = [&](Calls::Position call, const Check& judged, const Judgement& judgement) {
    judgements.push_back(judgement);
    todo_.remove(call, judged);
  };
  Queue queue(Worker::native, false, plan_.calls, todo_, std::chrono::seconds(600), 1, listener.verdict);
  worker.work_on({&queue}, 1, listener, [](const nlohmann::json&, const std::string&) {});
  serve_until(worker, [&] { return !judgements.empty(); });
  EXPECT_EQ(judgements.front().verdict, Verdict::crash);
  EXPECT_NE(judgements.front().reason.find("it answered"), std::string::npos) << judgements.front().reason;
}

// The first worker hangs, and every later one answers that all checks pass.
TEST_F(WorkerHandleTest, ATimeoutThatDoesNotHappenAgainIsNoFailure) {
  constexpr std::chrono::seconds kLimit{3};
  std::vector<Judgement> judgements;  // of the first call; those of others may arrive with them
  const std::string marker = (folder_ / "hung").string();
  WorkerHandle worker =
      handle("read setup; echo '{\"ready\": {}}' >&3; [ -e '" + marker + "' ] || { touch '" + marker +
             "'; exec sleep 600; }; while read job; do "
             R"(echo "$job" | sed 's/.*"run":\[\([0-9]*\).*/{"ran":\1}/' >&3; done)");
  WorkerHandle::Listener listener;
  listener.verdict = [&](Calls::Position call, const Check& check, const Judgement& judgement) {
    if (call == 0) judgements.push_back(judgement);
    todo_.remove(call, check);
  };
  Queue queue(Worker::native, false, plan_.calls, todo_, kLimit, 1, listener.verdict);
  worker.work_on({&queue}, 1, listener, [](const nlohmann::json&, const std::string&) {});
  size_t checks = 0;
  for (const Check* check : plan_.calls.checks(0)) checks += check->worker == Worker::native;
  serve_until(worker, [&] { return judgements.size() == checks; });
  for (const Judgement& judgement : judgements)
    EXPECT_EQ(judgement.verdict, Verdict::pass) << judgement.reason;
  EXPECT_NE(judgements.back().reason.find("when it was tried again, it ended in time"), std::string::npos)
      << "a hang that comes and goes is told all the same";
}

}  // namespace
}  // namespace opgate::worker_handle_test
