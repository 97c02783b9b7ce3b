// Values that methods take and return are compared, copied and overwritten, whatever their types.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "base/tensors_in.h"
#include "classes/flattened.h"
#include "classes/method_values.h"
#include "support.h"

namespace opgate::class_answers_test {
namespace {

using c10::IValue;
using testing::counted;
using ::testing::HasSubstr;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::string apart(const IValue& got, const IValue& want, Accuracy accuracy = exact()) {
  double worst = 0;
  return difference(got, want, accuracy, worst).value_or("alike");
}

IValue pair(const IValue& one, const IValue& other) { return c10::ivalue::Tuple::create({one, other}); }

TEST(AnswerDifference, ComparesPlainValuesByKindAndValue) {
  EXPECT_EQ(apart(3, 3), "alike");
  EXPECT_EQ(apart(3, 4), "got 3, want 4");
  EXPECT_EQ(apart(IValue(), IValue()), "alike");
  EXPECT_EQ(apart(IValue(), 4), "got None, want 4");
  EXPECT_EQ(apart("a", "a"), "alike");
  EXPECT_THAT(apart("a", "b"), HasSubstr("want b"));
  EXPECT_NE(apart(1, true), "alike");
  EXPECT_NE(apart(1, 1.0), "alike");
}

TEST(AnswerDifference, ComparesNumbersWithinTheAccuracy) {
  EXPECT_EQ(apart(kNaN, kNaN), "alike");
  EXPECT_EQ(apart(0.0, -0.0), "got 0, want -0");
  EXPECT_EQ(apart(1.0, 1.0 + 0x1p-52, ulps(1)), "alike");
  EXPECT_NE(apart(1.0, 1.0 + 0x1p-52), "alike");
  EXPECT_NE(apart(1.0, 1.0 + 0x1p-51, ulps(1)), "alike");
}

TEST(AnswerDifference, ReportsTheWorstErrorInUlps) {
  double worst = 0;
  EXPECT_FALSE(difference(IValue(1.0), IValue(1.0 + 0x1p-51), ulps(4), worst));
  EXPECT_EQ(worst, 2);
}

TEST(AnswerDifference, LooksIntoListsTuplesAndDicts) {
  EXPECT_EQ(apart(std::vector<int64_t>{1, 2}, std::vector<int64_t>{1, 3}), "element 1: got 2, want 3");
  EXPECT_EQ(apart(std::vector<int64_t>{1}, std::vector<int64_t>{1, 3}), "got 1 elements, want 2");
  EXPECT_THAT(apart(pair(1, counted({2})), pair(1, testing::tensor_of<float>({2}, {0, 5}))),
              HasSubstr("element 1: 1 of 2"));
  c10::Dict<std::string, int64_t> one;
  one.insert("a", 1);
  c10::Dict<std::string, int64_t> other;
  other.insert("a", 2);
  EXPECT_EQ(apart(one, one.copy()), "alike");
  EXPECT_EQ(apart(one, other), "a: got 1, want 2");
  other.insert("b", 2);
  EXPECT_EQ(apart(one, other), "got 1 keys, want 2");
}

TEST(AnswerDifference, TellsAnUndefinedTensorFromADefinedOne) {
  EXPECT_EQ(apart(at::Tensor(), at::Tensor()), "alike");
  EXPECT_EQ(apart(at::Tensor(), counted({2})), "got an undefined tensor");
  EXPECT_EQ(apart(counted({2}), at::Tensor()), "got a tensor, want an undefined one");
}

TEST(AnswerDifference, TakesOneExceptionForAnother) {
  double ignored = 0;
  const Answer value{3, std::nullopt};
  const Answer raised{{}, "no"};
  EXPECT_FALSE(difference(raised, Answer{{}, "never"}, exact(), ignored));
  EXPECT_EQ(difference(raised, value, exact(), ignored), "raised: no");
  EXPECT_EQ(difference(value, raised, exact(), ignored), "got 3, want an exception: no");
}

TEST(Answers, AreCopiedWithAllTheirTensors) {
  const IValue value = pair(std::vector<at::Tensor>{counted({3})}, counted({2}));
  const IValue copy = deep_copy(value);
  EXPECT_TRUE(same(value, copy));
  EXPECT_FALSE(share_memory(value, copy));
  EXPECT_EQ(tensors_in(copy).size(), 2u);
}

TEST(Answers, ShareMemoryWhereAnyTwoTensorsDo) {
  const at::Tensor tensor = counted({4});
  EXPECT_TRUE(share_memory(pair(1, tensor), std::vector<at::Tensor>{tensor.narrow(0, 3, 1)}));
  EXPECT_FALSE(share_memory(tensor, tensor.clone()));
  EXPECT_FALSE(share_memory(tensor.narrow(0, 0, 0), tensor));
}

TEST(Answers, AreOverwrittenWhereverTheirElementsLie) {
  const at::Tensor row = counted({3}, c10::kLong);
  overwrite(pair(1, row.expand({4, 3})));
  EXPECT_TRUE(testing::same_bits(row, testing::tensor_of<int64_t>({3}, {1, 0, 0})));
  const at::Tensor matrix = counted({2, 3});
  overwrite(matrix.t());
  EXPECT_TRUE(testing::same_bits(matrix, testing::tensor_of<float>({2, 3}, {1, 0, 0, 0, 0, 0})));
}

TEST(Flattened, TakesPairsOfANameAndAPlainValue) {
  const auto tuple = [](std::vector<IValue> elements) { return c10::ivalue::Tuple::create(elements); };
  EXPECT_EQ(malformed(tuple({})), std::nullopt);
  EXPECT_EQ(malformed(tuple({pair("a", 1), pair("b", counted({2})), pair("c", pair("x", 0.5))})),
            std::nullopt);
  EXPECT_THAT(malformed(std::vector<int64_t>{1}).value_or(""), HasSubstr("no tuple but"));
  EXPECT_THAT(malformed(tuple({pair("a", 1), 2})).value_or(""), HasSubstr("element 1 is no (name, value)"));
  EXPECT_THAT(malformed(tuple({pair(1, "a")})).value_or(""), HasSubstr("element 0 is no (name, value)"));
  EXPECT_THAT(malformed(tuple({tuple({"a", 1, 2})})).value_or(""), HasSubstr("element 0"));
  EXPECT_EQ(malformed(tuple({pair("a", 1), pair("a", 2)})), "two values are named 'a'");
  EXPECT_EQ(malformed(tuple({pair("a", pair(1, IValue(c10::Device("cpu"))))})), "'a' holds Device");
}

}  // namespace
}  // namespace opgate::class_answers_test
