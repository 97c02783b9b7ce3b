// Which calls judge a mutant.
#include "mutation/reached_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <set>
#include <string>

#include "judging/all_checks.h"
#include "plan/plan.h"
#include "spec/spec.h"
#include "support.h"

namespace opgate::reached_calls_test {
namespace {

using ::testing::IsSupersetOf;

TEST(ReachedCalls, AFewThatAreChosenHaveAllVariantsAndSeveralDtypes) {
  const std::vector<Check> checks = native_checks();
  std::vector<Spec> specs{testing::spec_of("aten::relu", {{uniform({4, 8})}, {uniform({2, 3})}})};
  SpecWriter(specs.front()).dtypes({c10::kHalf, c10::kFloat, c10::kDouble});
  const Plan plan = make_plan(specs, checks, {{}, {}, {"cpu"}, {}});
  std::vector<Calls::Position> all(plan.calls.size());
  std::iota(all.begin(), all.end(), Calls::Position{0});
  std::set<std::string> variants;
  for (const Calls::Position call : all) variants.insert(plan.calls.key(call).variant);
  const std::vector<Calls::Position> few = spread(plan.calls, all, variants.size());
  std::set<std::string> chosen;
  std::set<c10::ScalarType> dtypes;
  for (const Calls::Position call : few) {
    chosen.insert(plan.calls.key(call).variant);
    dtypes.insert(plan.calls.key(call).dtype);
  }
  EXPECT_EQ(chosen, variants);
  EXPECT_LT(few.size(), all.size() / 2);
  // An operator that converts one dtype shows none of its mistakes with strides in that dtype.
  EXPECT_THAT(dtypes, IsSupersetOf({c10::kHalf, c10::kFloat, c10::kDouble}));
}

}  // namespace
}  // namespace opgate::reached_calls_test
