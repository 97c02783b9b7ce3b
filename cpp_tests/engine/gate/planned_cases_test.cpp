// Planned cases are compared as sets, and not by their number.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gate/planned_cases.h"

namespace opgate::planned_cases_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

PlannedCases some_cases() {
  PlannedCasesBuilder builder;
  builder.add("4x8", "x=stepped", "float32", "value.layout");
  builder.add("4x8", "contiguous", "float32", "value.reference");
  builder.add("4x8", "x=stepped", "float64", "value.layout");
  builder.add("7", "x=stepped", "float32", "value.layout");
  return builder.build();
}

TEST(PlannedCases, AreCountedByCheckAndDtype) {
  const auto count = some_cases().count();
  EXPECT_EQ(count.at("value.layout"), (ByDtype<size_t>{{"float32", 2}, {"float64", 1}}));
  EXPECT_EQ(total(count.at("value.layout")), 3u);
  EXPECT_EQ(count.at("value.reference"), (ByDtype<size_t>{{"float32", 1}}));
}

TEST(PlannedCases, AreEqualInWhateverOrderTheyCame) {
  PlannedCases other;
  other.add("7", "x=stepped", {{"value.layout", {"float32"}}});
  other.add("4x8", "contiguous", {{"value.reference", {"float32"}}});
  other.add("4x8", "x=stepped", {{"value.layout", {"float64"}}});
  EXPECT_FALSE(other == some_cases());
  other.add("4x8", "x=stepped", {{"value.layout", {"float32"}}});
  EXPECT_TRUE(other == some_cases());
}

TEST(PlannedCases, NothingIsLostWhereCasesAreAdded) {
  PlannedCases later = some_cases();
  later.add("4x8", "x=transposed", {{"value.layout", {"float32"}}});
  EXPECT_THAT(some_cases().lost_in(later, {}), IsEmpty());
  EXPECT_THAT(later.lost_in(some_cases(), {}),
              ElementsAre(PlannedCase{"4x8", "x=transposed", "float32", "value.layout"}));
}

TEST(PlannedCases, ASwapOfEqualNumberIsSeen) {
  PlannedCases later;
  later.add("4x8", "x=transposed", {{"value.layout", {"float32", "float64"}}});
  later.add("4x8", "contiguous", {{"value.reference", {"float32"}}});
  later.add("7", "x=stepped", {{"value.layout", {"float32"}}});
  ASSERT_EQ(later.count(), some_cases().count());
  EXPECT_THAT(some_cases().lost_in(later, {}),
              ElementsAre(PlannedCase{"4x8", "x=stepped", "float32", "value.layout"},
                          PlannedCase{"4x8", "x=stepped", "float64", "value.layout"}));
}

TEST(PlannedCases, ARenamedSampleLosesNothing) {
  PlannedCases later;
  later.add("sheet", "x=stepped", {{"value.layout", {"float32", "float64"}}});
  later.add("sheet", "contiguous", {{"value.reference", {"float32"}}});
  later.add("7", "x=stepped", {{"value.layout", {"float32"}}});
  EXPECT_THAT(some_cases().lost_in(later, {{"4x8", "sheet"}}), IsEmpty());
  EXPECT_EQ(some_cases().lost_in(later, {}).size(), 3u);
}

}  // namespace
}  // namespace opgate::planned_cases_test
