// Summaries tell another function from another rounding, and survive being written as text.
#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "compare/value_summary.h"

namespace opgate::value_summary_test {
namespace {

constexpr double kUlp = 0x1p-23;  // of float32 at 1

at::Tensor some_values() { return at::sin(at::arange(1, 301, at::kDouble)) * 3; }

bool same(const at::Tensor& one, const at::Tensor& other, double error = 8 * kUlp) {
  return may_be_same_values(summary_of(one), summary_of(other), error);
}

TEST(ValueSummary, IsReadBackAsItWasWritten) {
  at::Tensor values = some_values();
  values[3] = std::numeric_limits<double>::quiet_NaN();
  values[4] = values[5] = std::numeric_limits<double>::infinity();
  values[6] = -std::numeric_limits<double>::infinity();
  const ValueSummary summary = summary_of(values);
  EXPECT_EQ(summary.count, 296);
  const auto read = summary_from(to_text(summary));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->nans, 1);
  EXPECT_EQ(read->positive_infinities, 2);
  EXPECT_EQ(read->negative_infinities, 1);
  EXPECT_TRUE(may_be_same_values(*read, summary, 0)) << to_text(summary);
  const ValueSummary integers = summary_of(at::arange(7));
  EXPECT_EQ(summary_from(to_text(integers)), integers);
  for (const char* wrong : {"", "x", "3: 1 2", "3, 1 dogs: 1 2 3 4"})
    EXPECT_FALSE(summary_from(wrong)) << wrong;
}

TEST(ValueSummary, AnotherRoundingIsTheSameFunction) {
  const at::Tensor values = some_values();
  EXPECT_TRUE(same(values, values.to(at::kFloat)));
  EXPECT_TRUE(same(values.to(at::kFloat), values.to(at::kFloat) * (1 + 4 * kUlp)));
  EXPECT_TRUE(same(values * 1e30, (values * 1e30).to(at::kFloat)));
}

TEST(ValueSummary, AnotherFunctionIsSeen) {
  const at::Tensor values = some_values();
  EXPECT_FALSE(same(values, values.abs()));
  EXPECT_FALSE(same(values, values * 1.001));
  EXPECT_FALSE(same(values, values.flip(0))) << "the same numbers in another order";
  at::Tensor one = values.clone();
  one[17] += 0.01;
  EXPECT_FALSE(same(values, one)) << "one element of 300";
  one = values.clone();
  one[17] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(same(values, one));
}

TEST(ValueSummary, LargeElementsDoNotHideSmallOnes) {
  at::Tensor large = some_values();
  large[0] = 1e300;
  at::Tensor other = large.clone();
  other[1] += 0.5;
  EXPECT_FALSE(same(large, other));
}

TEST(ValueSummary, IntegersAreComparedExactly) {
  const at::Tensor integers = at::arange(100);
  EXPECT_TRUE(same(integers, integers.clone()));
  EXPECT_FALSE(same(integers, integers.flip(0)));
  EXPECT_FALSE(same(integers, integers.to(at::kInt))) << "of another dtype";
}

TEST(ValueSummary, DependsOnTheValuesAndNotOnTheirLayout) {
  const at::Tensor matrix = some_values().reshape({20, 15});
  EXPECT_EQ(summary_of(matrix), summary_of(matrix.t().contiguous().t()));
  const at::Tensor parts = at::complex(matrix, matrix * 2);
  EXPECT_EQ(summary_of(parts).count, 600);
  EXPECT_FALSE(same(parts, parts.conj()));
}

TEST(ValueSummary, OfElementsThatHoldTwoNumbersIsADigest) {
  const at::Tensor bytes = at::ones({4}, at::kByte);
  const ValueSummary summary = summary_of(bytes.view(c10::kFloat4_e2m1fn_x2));
  EXPECT_FALSE(summary.exact.empty());
  EXPECT_NE(summary.exact, summary_of(bytes.mul(2).view(c10::kFloat4_e2m1fn_x2)).exact);
}

}  // namespace
}  // namespace opgate::value_summary_test
