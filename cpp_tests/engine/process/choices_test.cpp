// What is offered instead of a name that does not exist.
#include "base/choices.h"

#include <gtest/gtest.h>

namespace opgate::choices_test {
namespace {

std::vector<std::string> numbered(size_t count) {
  std::vector<std::string> names;
  for (size_t i = 0; i < count; ++i) names.push_back("sum_" + std::to_string(i));
  return names;
}

TEST(Choices, AFewNamesAreAllNamed) {
  EXPECT_EQ(choices_for("tpu", {"cpu", "cuda", "sim"}), "there are: cpu, cuda, sim");
  EXPECT_NE(choices_for("x", numbered(30)).find("sum_29"), std::string::npos);
}

TEST(Choices, OfManyNamesThoseThatAreMostAlikeAreNamed) {
  std::vector<std::string> names = numbered(487);
  names.insert(names.begin() + 200, {"row_norm", "column_norm", "row_norm.out"});
  EXPECT_TRUE(choices_for("row_nrom", names).starts_with("similar of 490: row_norm"));
  EXPECT_TRUE(choices_for("norm", names).starts_with("similar of 490: row_norm, column_norm, row_norm.out"));
  EXPECT_TRUE(
      choices_for("sum_48", numbered(31)).starts_with("similar of 31: sum_4, sum_18, sum_28, sum_8, "));
}

TEST(Choices, WhereNoneIsAlikeTheyAreListed) {
  EXPECT_TRUE(choices_for("tpu", numbered(31)).starts_with("there are 31: sum_0, sum_1, "));
  EXPECT_TRUE(choices_for("tpu", numbered(31)).ends_with(", sum_30"));
  EXPECT_TRUE(choices_for("tpu", numbered(487)).ends_with(", sum_99, ..."));
  EXPECT_TRUE(choices_for("", numbered(31)).starts_with("there are 31: sum_0, "));
}

}  // namespace
}  // namespace opgate::choices_test
