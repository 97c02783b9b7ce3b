// One worker from the supervisor's side: how its process starts and ends, and what its answers count for.
#include <gtest/gtest.h>

#include <poll.h>

#include <array>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "judging/all_checks.h"
#include "judging/verdict.h"
#include "plan/plan.h"
#include "run/worker/worker_client.h"
#include "spec/spec.h"
#include "support.h"

namespace opgate::worker_client_test {
namespace {

using std::chrono::steady_clock;
using testing::spec_of;
using testing::TemporaryFolder;

// A process that is asked to exit has ten seconds before it is killed; one that is killed needs none of them.
constexpr std::chrono::seconds kShutdownTimeout{10};

class WorkerClientTest : public ::testing::Test {
 protected:
  WorkerClientTest()
      : specs_{spec_of("aten::neg", {{uniform({3})}})},
        checks_(native_checks()),
        plan_(make_plan(specs_, checks_)),
        todo_(plan_.calls, {}) {}

  WorkerProgram program(const std::string& script) const {
    return {.command = {{"/bin/sh", "-c", script}, {}}, .log = folder_ / "log", .setup = {}};
  }

  // Gives a worker that runs this script the calls of the plan, and takes its answers until `done`.
  void serve_until(const std::string& script, const std::function<bool()>& done,
                   std::chrono::seconds limit = std::chrono::seconds(600)) {
    VerdictListener listener([&](const JudgedCase& judged) {
      all_.push_back(judged.judgement);
      if (judged.call == 0) judgements_.push_back(judged.judgement);
      todo_.remove(judged.call, judged.check);
    });
    Queue queue(Worker::native, false, plan_.calls, todo_, limit, 1, listener);
    WorkerClient worker(program(script),
                        {.queues = {&queue},
                         .sharers = 1,
                         .listener = listener,
                         .on_preparation_failed = [](const nlohmann::json&, const Judgement&) {}});
    while (!done()) {
      worker.feed();
      std::array<pollfd, 1> waiting{{{worker.answers(), POLLIN, 0}}};
      if (poll(waiting.data(), waiting.size(), 100) > 0) worker.receive();
      worker.check_deadline();
    }
    worker.dismiss();
  }

  const testing::SigpipeIgnored sigpipe_ignored_;
  TemporaryFolder folder_;
  std::vector<Spec> specs_;
  std::vector<Check> checks_;
  Plan plan_;
  CaseSet todo_;
  std::vector<Judgement> all_;
  std::vector<Judgement> judgements_;  // of the first call
};

// Two Python workers share a queue: the second may still import torch when the first has done everything.
TEST_F(WorkerClientTest, AProcessThatHasNotAnsweredYetIsEndedAtOnce) {
  WorkerProcess worker(program("exec sleep 600"));
  worker.start();
  const auto begin = steady_clock::now();
  worker.dismiss();
  EXPECT_LT(steady_clock::now() - begin, kShutdownTimeout);
  EXPECT_EQ(worker.answers(), -1);
}

// A full pipe that nothing reads would keep the process from noticing that its stdin has ended.
TEST_F(WorkerClientTest, AProcessWhoseAnswersAreNotReadIsNotWaitedFor) {
  WorkerProcess worker(
      program("read setup; echo '{\"ready\": {}}' >&3; read end; "
              "exec 2>/dev/null; while echo 0123456789012345678901234567890123456789 >&3; do :; done"));
  worker.await_ready();
  const auto begin = steady_clock::now();
  worker.close();
  worker.dismiss();
  EXPECT_LT(steady_clock::now() - begin, kShutdownTimeout);
}

TEST_F(WorkerClientTest, AProcessThatEndsBeforeItIsReadyIsAnErrorOfTheSetUp) {
  for (const std::string script : {"read setup; exit 3", "read setup; echo nonsense >&3; read end",
                                   "read setup; echo '{\"broken\": \"no library\"}' >&3; read end"}) {
    WorkerProcess worker(program(script));
    EXPECT_THROW(worker.await_ready(), SetupError) << script;
  }
}

// The kernel kills a process where memory runs out, which may be the fault of another one.
TEST_F(WorkerClientTest, AProcessThatIsKilledBeforeItIsReadyIsStartedAgain) {
  const std::string marker = (folder_ / "killed").string();
  WorkerProcess worker(program("[ -e '" + marker + "' ] || { touch '" + marker +
                               "'; kill -KILL $$; }; read setup; echo '{\"ready\": {}}' >&3; read end"));
  worker.await_ready();
  EXPECT_TRUE(worker.is_ready());
  WorkerProcess hopeless(program("kill -KILL $$"));
  EXPECT_THROW(hopeless.await_ready(), SetupError);
}

// An earlier call's words, which C's stdio may have held back, are no words of the call that ends the worker.
TEST_F(WorkerClientTest, ACrashQuotesNothingThatAnEarlierCallPrinted) {
  std::optional<Judgement> crash;
  serve_until(
      "read setup; echo '{\"ready\": {}}' >&3; read job; echo early; "
      "echo '{\"ran\":0,\"printed\":6}' >&3; read job; echo late; exit 7",
      [&] {
        const auto found = std::ranges::find(all_, Verdict::crash, &Judgement::verdict);
        if (found != all_.end()) crash = *found;
        return crash.has_value();
      });
  EXPECT_EQ(crash->reason, "the native worker ended: exit status 7; it last printed: late");
  EXPECT_EQ(crash->ended, "exit status 7");
  EXPECT_EQ(crash->remarks, "it last printed: late");
  EXPECT_EQ(crash->reason_without_remarks(), "the native worker ended: exit status 7");
}

// Answers that are not of the job that the worker was given. None of them may count as a verdict.
class OutOfStepTest : public WorkerClientTest, public ::testing::WithParamInterface<std::string> {};

TEST_P(OutOfStepTest, IsACrashOfTheWorkerAndNoPass) {
  serve_until("read setup; echo '{\"ready\": {}}' >&3; read job; echo '" + GetParam() + "' >&3; read end",
              [&] { return !judgements_.empty(); });
  EXPECT_EQ(judgements_.front().verdict, Verdict::crash);
  EXPECT_NE(judgements_.front().reason.find("which is not what it was asked"), std::string::npos)
      << judgements_.front().reason;
}

INSTANTIATE_TEST_SUITE_P(Each, OutOfStepTest,
                         ::testing::Values(R"({"ran":1})", R"({"ran":4294967296})",
                                           R"({"ran":"neg/float32"})", R"({"packaged":"cpu"})", "{}",
                                           R"({"ready":{}})", R"({"judgements":{}})"));

TEST_F(WorkerClientTest, AVerdictThatDoesNotExistIsACrashOfTheWorker) {
  const std::string check = plan_.calls.checks(0).front()->name;
  const std::string answer = R"({"ran":0,"judgements":{")" + check + R"(":{"verdict":"bogus"}}})";
  serve_until("read setup; echo '{\"ready\": {}}' >&3; read job; echo '" + answer + "' >&3; read end",
              [&] { return !judgements_.empty(); });
  EXPECT_EQ(judgements_.front().verdict, Verdict::crash);
  EXPECT_NE(judgements_.front().reason.find("it answered"), std::string::npos) << judgements_.front().reason;
}

// The first worker hangs, and every later one answers that all checks pass.
TEST_F(WorkerClientTest, ATimeoutThatDoesNotHappenAgainIsNoFailure) {
  constexpr std::chrono::seconds kLimit{3};
  const std::string marker = (folder_ / "hung").string();
  size_t checks = 0;
  for (const Check* check : plan_.calls.checks(0)) checks += check->worker == Worker::native;
  serve_until(
      "read setup; echo '{\"ready\": {}}' >&3; [ -e '" + marker + "' ] || { touch '" + marker +
          "'; exec sleep 600; }; while read job; do "
          R"(echo "$job" | sed 's/.*"run":\[\([0-9]*\).*/{"ran":\1}/' >&3; done)",
      [&] { return judgements_.size() == checks; }, kLimit);
  for (const Judgement& judgement : judgements_)
    EXPECT_EQ(judgement.verdict, Verdict::pass) << judgement.reason;
  EXPECT_NE(judgements_.back().reason.find("when it was tried again, it ended in time"), std::string::npos)
      << "a hang that comes and goes is told all the same";
}

}  // namespace
}  // namespace opgate::worker_client_test
