// Numbers in names, as short as they read back the same, and names of functions.
#include "base/text.h"

#include <gtest/gtest.h>

#include "base/function_name.h"

namespace opgate::text_test {
namespace {

TEST(Text, NumbersAreAsShortAsTheyReadBackTheSame) {
  EXPECT_EQ(shortest_numbers("2x8,9.9999999999999995e-07,[3, 3]"), "2x8,1e-06,[3, 3]");
  EXPECT_EQ(shortest_numbers("[-0.80000000000000004, 0.29999999999999999]"), "[-0.8, 0.3]");
  EXPECT_EQ(shortest_numbers("10000000.300000001"), "10000000.3");
}

TEST(Text, OtherTextStaysAsItIs) {
  for (const std::string text : {"", "2.", "-2.", "0.1", "12345678901234567890", "v1.2.3",
                                 "0.3333333333333333", "a0", "1.e", "0.1e", "aten::add.Scalar"})
    EXPECT_EQ(shortest_numbers(text), text) << text;
}

TEST(Text, AThreadOfATemplateIsOfTheFunctionWhoseLambdaItRuns) {
  EXPECT_EQ(
      function_of_lambda("at::internal::invoke_parallel<at::parallel_for<five::scale(at::Tensor const&, "
                         "long)::{lambda(long, long)#1}>(long, long, long, five::scale(at::Tensor const&, "
                         "long)::{lambda(long, long)#1} const&)::{lambda(long, long)#1}>"),
      "five::scale");
  EXPECT_EQ(
      function_of_lambda("at::parallel_for<(anonymous namespace)::Sum<float>::rows(long)::{lambda(long)#2}>"),
      "Sum<float>::rows");
  EXPECT_EQ(function_of_lambda("std::for_each<long*, twice(long)::{lambda(long)#1}>"), "twice");
}

TEST(Text, OtherTemplatesHaveNoFunctionOfTheirCaller) {
  for (const std::string name :
       {"at::native::copy_<float>", "std::sort<long*, std::less<long>>", "scale", ""})
    EXPECT_EQ(function_of_lambda(name), "") << name;
}

TEST(Text, AFunctionIsNamedWithoutItsResultAndItsParameters) {
  EXPECT_EQ(short_function_name("void (anonymous namespace)::twice<float>(float const*, long) [clone .lto]"),
            "twice<float>");
  EXPECT_EQ(short_function_name("five::scale(at::Tensor const&)"), "five::scale");
  EXPECT_EQ(short_function_name("a function"), "a function");
}

}  // namespace
}  // namespace opgate::text_test
