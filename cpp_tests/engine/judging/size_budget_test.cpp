#include "judging/calls/size_budget.h"

#include <gtest/gtest.h>

namespace opgate {
namespace {

TEST(SizeBudget, LeavesOutSizesWhoseCallsWouldTakeTooLong) {
  SizeBudget budget(30);
  EXPECT_TRUE(budget.allows(8, 1025));  // nothing is known yet
  budget.add(8, 1025, 1);
  EXPECT_TRUE(budget.allows(8, 6145));
  budget.add(8, 6145, 12);
  EXPECT_FALSE(budget.allows(8, 12289));
  EXPECT_FALSE(budget.allows(8, 65536));
  EXPECT_EQ(budget.left_out(), (std::set<int64_t>{12289, 65536}));
}

TEST(SizeBudget, AsksAllSizesIfCallsTakeAsLongAsBefore) {
  SizeBudget budget(30);
  for (const int64_t size : {1025, 6145, 12289, 65536}) {
    EXPECT_TRUE(budget.allows(8, size)) << size;
    budget.add(8, size, 0.2);
  }
  EXPECT_TRUE(budget.left_out().empty());
}

TEST(SizeBudget, KnowsEachSizeOfTheSampleByItself) {
  SizeBudget budget(30);
  budget.add(8, 1025, 10);
  EXPECT_FALSE(budget.allows(8, 6145));
  EXPECT_TRUE(budget.allows(5, 6145));
}

// A multiple above the same limit may be compiled already.
TEST(SizeBudget, TakesNoGrowthFromNearSizes) {
  SizeBudget budget(30);
  budget.add(8, 1025, 2);
  budget.add(8, 1032, 0.001);
  budget.add(8, 6145, 0.1);
  EXPECT_TRUE(budget.allows(8, 65536));
}

}  // namespace
}  // namespace opgate
