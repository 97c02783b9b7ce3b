// The gate's rule accuracy.worse: which larger errors it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gate/broken.h"
#include "gate/rule.h"

namespace opgate::accuracy_rule_test {
namespace {

// A run with one operator whose worst error against the reference is `ulps` in this dtype.
RunState run_with(const std::string& dtype, double ulps) {
  RunState run;
  DeviceState& device = run.state["op"].devices["cpu"];
  PlannedCasesBuilder cases;
  cases.add("4x6", "contiguous", dtype, "value.reference");
  device.planned = cases.build();
  device.machines[machine_of(run.header)].worst["value.reference"][dtype] = ulps;
  return run;
}

// What the rule says of a worst error that was `then` and is `now`.
std::vector<std::string> said(const std::string& dtype, double then, double now) {
  const RunState base = run_with(dtype, then), head = run_with(dtype, now);
  Remarks remarks;
  RuleReport report("accuracy.worse", remarks);
  Registry<Rule>::instance().find("accuracy.worse")->judge(Change{.base = base.state, .head = head}, report);
  std::vector<std::string> what;
  for (const Remark& remark : remarks) what.push_back(remark.what);
  return what;
}

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(AccuracyRule, RefusesAWorstErrorThatIsMoreThanTheFactorLarger) {
  EXPECT_THAT(said("float32", 2, 2.9), IsEmpty());
  EXPECT_THAT(said("float32", 2, 3.1),
              ElementsAre("accuracy, cpu, float32, value.reference: worst error 2 -> 3.1 ulps"));
  EXPECT_THAT(said("float32", 0, 0.7), IsEmpty()) << "half an ulp is rounding";
  EXPECT_THAT(said("float32", 0, 1),
              ElementsAre("accuracy, cpu, float32, value.reference: worst error 0.5 -> 1 ulps"));
}

// The reference is computed in Double, too, and rounds otherwise on other processors.
TEST(AccuracyRule, AllowsForTheRoundingOfTheReferenceWhereResultsAreInDouble) {
  for (const char* dtype : {"float64", "complex128"}) {
    EXPECT_THAT(said(dtype, 0, 1), IsEmpty()) << dtype;
    EXPECT_EQ(said(dtype, 0, 2).size(), 1u) << dtype;
  }
}

}  // namespace
}  // namespace opgate::accuracy_rule_test
