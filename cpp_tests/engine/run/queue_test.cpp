// The queue of one kind of worker: each call runs once, calls that come back are next, and hopeless
// operators are given up.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "judging/all_checks.h"
#include "judging/verdict.h"
#include "plan/plan.h"
#include "run/work_queue.h"
#include "spec/spec.h"
#include "support.h"

namespace opgate::queue_test {
namespace {

using ::testing::HasSubstr;
using testing::spec_of;

class QueueTest : public ::testing::Test {
 protected:
  QueueTest()
      : specs_{spec_of("aten::neg", {{uniform({3})}}),
               spec_of("aten::relu", {{uniform({4, 8})}, {uniform({5})}, {uniform({6, 2})}})},
        checks_(native_checks()),
        plan_(make_plan(specs_, checks_)),
        todo_(plan_.calls, {}) {}

  Queue queue(Worker kind = Worker::native, size_t workers = 1) {
    return Queue(kind, false, plan_.calls, todo_, std::chrono::seconds(1), workers, listener_);
  }
  static std::vector<Job> drain(Queue& queue) {
    std::vector<Job> jobs;
    while (auto job = queue.next()) jobs.push_back(*std::move(job));
    return jobs;
  }
  // Lets a worker die four times on each call that the queue gives and `dies` names, and answer the others.
  template <class Dies>
  void work(Queue& queue, const Dies& dies) {
    while (const auto job = queue.next()) {
      if (!dies(*job->call)) {
        queue.answered(*job->call);
        continue;
      }
      for (int time = 0; time < 4; ++time) queue.died_on(*job->call, "SIGSEGV");
      tried_.insert(*job->call);
    }
  }
  size_t cases_of(Worker kind) const {
    size_t count = 0;
    for (const PlannedCall& call : plan_.calls) {
      for (const Check* check : call.checks) count += check->worker == kind;
    }
    return count;
  }

  std::vector<Spec> specs_;
  std::vector<Check> checks_;
  Plan plan_;
  CaseSet todo_;
  std::vector<Judgement> given_up_;
  VerdictListener listener_{[this](const JudgedCase& judged) {
    EXPECT_TRUE(todo_.remove(judged.call, judged.check));
    given_up_.push_back(judged.judgement);
  }};
  std::set<Calls::Position> tried_;  // the calls on which workers died
};

TEST_F(QueueTest, GivesEachCaseOfItsKindOnceInTheOrderOfThePlan) {
  for (const Worker kind : {Worker::native, Worker::aoti}) {
    Queue mine = queue(kind);
    size_t cases = 0;
    std::vector<Calls::Position> order;
    for (const Job& job : drain(mine)) {
      EXPECT_TRUE(job.every_check);
      for (const Check* check : job.checks) EXPECT_EQ(check->worker, kind);
      cases += job.checks.size();
      order.push_back(*job.call);
    }
    EXPECT_EQ(cases, cases_of(kind));
    EXPECT_TRUE(std::ranges::is_sorted(order));
    EXPECT_EQ(std::set(order.begin(), order.end()).size(), order.size());
    EXPECT_TRUE(mine.empty());
  }
}

TEST_F(QueueTest, LeavesOutWhatHasAVerdict) {
  Queue before = queue();
  Job whole = before.next().value();
  while (whole.checks.size() < 2) whole = before.next().value();
  todo_.remove(*whole.call, *whole.checks.front());
  Queue after = queue();
  Job rest = after.next().value();
  while (rest.call != whole.call) rest = after.next().value();
  EXPECT_FALSE(rest.every_check);
  EXPECT_EQ(rest.checks, CheckList(whole.checks.begin() + 1, whole.checks.end()));
}

TEST_F(QueueTest, GivesPreparationsFirstAndWhatComesBackBeforeThem) {
  Queue mine = queue();
  Job taken = mine.next().value();
  mine.add_preparation({{"one", 1}}, std::chrono::seconds(5));
  mine.add_preparation({{"two", 2}}, std::chrono::seconds(5));
  mine.put_back(std::move(taken));
  EXPECT_EQ(mine.next()->call, 0u);
  EXPECT_EQ(mine.next()->preparation, (nlohmann::json{{"one", 1}}));
  EXPECT_EQ(mine.next()->preparation, (nlohmann::json{{"two", 2}}));
  EXPECT_EQ(mine.next()->call, 1u);
}

TEST_F(QueueTest, GivesUpAnOperatorOnWhichWorkersDieAgainAndAgainAndNoOther) {
  Queue mine = queue();
  const Spec* const hopeless = &specs_.back();
  work(mine, [&](Calls::Position call) { return &plan_.calls.spec(call) == hopeless; });
  ASSERT_FALSE(given_up_.empty());
  std::set<std::string> named;
  for (const Judgement& judgement : given_up_) {
    EXPECT_EQ(judgement.verdict, Verdict::owed);
    EXPECT_THAT(judgement.reason, HasSubstr("not run, because the native worker ended"));
    EXPECT_THAT(judgement.reason, HasSubstr("relu; the last time: SIGSEGV"));
    named.insert(judgement.reason.substr(judgement.reason.find("in a row on ")));
  }
  EXPECT_THAT(named, ::testing::Contains(HasSubstr("in a row on sample '4x8'")));
  EXPECT_THAT(named, ::testing::Contains(HasSubstr("in a row on relu")));
  EXPECT_LE(tried_.size(), 8u);
}

TEST_F(QueueTest, GivesUpOneSampleAndTriesTheOthers) {
  Queue mine = queue();
  const Sample* const deadly = &specs_.back().samples.front();
  work(mine, [&](Calls::Position call) { return plan_.calls.key(call).sample == deadly; });
  ASSERT_FALSE(given_up_.empty());
  for (const Judgement& judgement : given_up_) EXPECT_THAT(judgement.reason, HasSubstr("on sample '4x8'"));
  EXPECT_LE(tried_.size(), 4u);
}

TEST_F(QueueTest, GivesUpOneDtypeAndTriesTheOthers) {
  Queue mine = queue();
  work(mine, [&](Calls::Position call) {
    const CallKey key = plan_.calls.key(call);
    return key.spec == &specs_.back() && key.dtype == c10::kHalf;
  });
  ASSERT_FALSE(given_up_.empty());
  for (const Judgement& judgement : given_up_) EXPECT_THAT(judgement.reason, HasSubstr("in float16 of relu"));
}

TEST_F(QueueTest, GivesUpOneVariantOfAllSamplesAndTriesTheOthers) {
  Queue mine = queue();
  const std::string deadly = "self=stepped";
  work(mine, [&](Calls::Position call) {
    return plan_.calls.key(call).spec == &specs_.back() && plan_.calls.key(call).variant == deadly;
  });
  ASSERT_FALSE(given_up_.empty());
  for (const Judgement& judgement : given_up_) EXPECT_THAT(judgement.reason, HasSubstr(deadly));
}

TEST_F(QueueTest, GivesUpOneVariantOfOneSampleInFurtherDtypesOnly) {
  Queue mine = queue();
  const Sample* const deadly = &specs_.back().samples.front();
  work(mine, [&](Calls::Position call) {
    const CallKey key = plan_.calls.key(call);
    return key.sample == deadly && key.is_contiguous();
  });
  ASSERT_FALSE(given_up_.empty());
  for (const Judgement& judgement : given_up_)
    EXPECT_THAT(judgement.reason, HasSubstr("on sample '4x8' with contiguous of relu"));
  EXPECT_EQ(tried_.size(), 2u);
}

TEST_F(QueueTest, DoesNotGiveUpForOneCallThatDiesWithEachOfItsChecks) {
  Queue mine = queue();
  const Job first = mine.next().value();
  for (size_t i = 0; i < first.checks.size() + 1; ++i) mine.died_on(0, "SIGSEGV");
  drain(mine);
  EXPECT_TRUE(given_up_.empty());
}

TEST_F(QueueTest, DoesNotGiveUpForTwoCallsThatTwoWorkersDieOn) {
  Queue mine = queue(Worker::native, 2);
  for (int i = 0; i < 50; ++i) {
    mine.died_on(0, "SIGSEGV");
    mine.died_on(1, "SIGSEGV");
  }
  EXPECT_TRUE(mine.next());
  EXPECT_TRUE(given_up_.empty());
  mine.died_on(2, "SIGSEGV");
  drain(mine);
  EXPECT_FALSE(given_up_.empty());
}

TEST_F(QueueTest, ForgetsDeathsOnceTheCallHasAnswered) {
  Queue mine = queue();
  for (int i = 0; i < 100; ++i) {
    mine.died_on(0, "SIGSEGV");
    mine.answered(0);
  }
  drain(mine);
  EXPECT_TRUE(given_up_.empty());
}

}  // namespace
}  // namespace opgate::queue_test
