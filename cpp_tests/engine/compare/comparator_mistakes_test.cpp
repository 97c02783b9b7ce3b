// One test for each mistake that published comparators have made: allclose, assert_close, assert_allclose,
// opcheck and the test suites of operator libraries. Each test expects OpGate's comparison to find what
// they accept, and to accept what they wrongly refuse.
#include <ATen/ops/_neg_view.h>
#include <ATen/ops/full.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/dtypes.h"
#include "compare/comparison.h"
#include "support.h"
#include "values/domain.h"

namespace opgate::comparator_mistakes_test {
namespace {

using testing::counted;
using testing::tensor_of;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

at::Tensor doubles(const std::vector<double>& values) {
  return tensor_of<double>({static_cast<int64_t>(values.size())}, values);
}

at::Tensor floats(const std::vector<double>& values) { return doubles(values).to(c10::kFloat); }

bool accepts(const at::Tensor& got, const at::Tensor& want, Accuracy accuracy) {
  return compare(got, want, accuracy).within();
}

// Whether `got` is accepted; expects that the exact comparison and the one in ulps agree.
bool always_accepts(const at::Tensor& got, const at::Tensor& want) {
  const bool accepted = accepts(got, want, exact());
  EXPECT_EQ(accepts(got, want, ulps(4)), accepted);
  return accepted;
}

TEST(ComparatorMistake, BroadcastingOneShapeToTheOther) {
  EXPECT_FALSE(always_accepts(floats({1}), floats({1, 1, 1})));
  EXPECT_FALSE(always_accepts(floats({1, 1}), at::full({2, 2}, 1.0f)));
  EXPECT_FALSE(always_accepts(at::full({}, 1.0f), floats({1})));
  EXPECT_TRUE(always_accepts(at::full({2, 2}, 1.0f), at::full({2, 2}, 1.0f)));
}

TEST(ComparatorMistake, PassingAnyTwoEmptyTensors) {
  EXPECT_FALSE(always_accepts(at::full({0, 3}, 1.0f), at::full({0, 4}, 1.0f)));
  EXPECT_FALSE(always_accepts(at::full({0, 3}, 1.0f), at::full({3, 0}, 1.0f)));
  EXPECT_FALSE(always_accepts(at::full({0}, 1.0f), at::full({0}, 1.0f).to(c10::kInt)));
  EXPECT_TRUE(always_accepts(at::full({0, 3}, 1.0f), at::full({0, 3}, 2.0f)));
}

TEST(ComparatorMistake, IgnoringTheDtype) {
  EXPECT_FALSE(always_accepts(doubles({1}), floats({1})));
  EXPECT_FALSE(always_accepts(tensor_of<int>({1}, {1}), tensor_of<int64_t>({1}, {1})));
  EXPECT_FALSE(always_accepts(floats({1}).to(c10::kBFloat16), floats({1}).to(c10::kHalf)));
  EXPECT_FALSE(accepts(floats({1}), doubles({1}), exact()));
  EXPECT_TRUE(accepts(floats({1}), doubles({1}), ulps(0)));  // a reference may have a wider dtype
}

TEST(ComparatorMistake, TakingMinusZeroForZeroWhereBitsArePromised) {
  for (const c10::ScalarType dtype :
       {c10::kHalf, c10::kBFloat16, c10::kFloat, c10::kDouble, c10::kFloat8_e5m2}) {
    const at::Tensor zero = floats({0.0}).to(dtype);
    const at::Tensor minus_zero = floats({-0.0}).to(dtype);
    EXPECT_FALSE(accepts(minus_zero, zero, exact())) << dtype_name(dtype);
    EXPECT_TRUE(accepts(minus_zero, zero, ulps(0))) << dtype_name(dtype);
    EXPECT_TRUE(accepts(minus_zero, minus_zero.clone(), exact())) << dtype_name(dtype);
  }
}

TEST(ComparatorMistake, FailingACorrectNan) {
  EXPECT_TRUE(always_accepts(floats({1, kNan}), floats({1, kNan})));
  EXPECT_TRUE(accepts(floats({kNan}), doubles({kNan}), ulps(0)));
  EXPECT_TRUE(accepts(floats({kNan}), floats({-kNan}), ulps(0)));
  EXPECT_TRUE(accepts(floats({kNan}), floats({-kNan}), exact()));
}

TEST(ComparatorMistake, TakingNanForAnything) {
  EXPECT_FALSE(accepts(floats({kNan}), floats({1}), ulps(1e300)));
  EXPECT_FALSE(accepts(floats({1}), floats({kNan}), ulps(1e300)));
  EXPECT_FALSE(accepts(floats({kNan}), floats({kInfinity}), ulps(1e300)));
  EXPECT_FALSE(
      accepts(floats({kNan}), doubles({1e300}), ulps(1e300)));  // an overflow gives infinity, not NaN
  EXPECT_FALSE(always_accepts(floats({kNan}), floats({0})));
}

TEST(ComparatorMistake, LosingANanInTheMaximumOfTheErrors) {
  for (const std::vector<double>& got : {std::vector<double>{kNan, 1, 1.5}, {1, kNan, 1.5}, {1, 1.5, kNan}}) {
    const Comparison found = compare(floats(got), floats({1, 1, 1}), ulps(1e9));
    EXPECT_EQ(found.differing, 1);
    EXPECT_EQ(found.worst_ulps, kInfinity);
    EXPECT_TRUE(std::isnan(got[static_cast<size_t>(found.worst)]));
    EXPECT_EQ(found.first, found.worst);
  }
}

TEST(ComparatorMistake, SubtractingInfinityFromInfinity) {
  EXPECT_TRUE(always_accepts(floats({kInfinity, -kInfinity}), floats({kInfinity, -kInfinity})));
  EXPECT_EQ(compare(floats({kInfinity}), doubles({kInfinity}), ulps(0)).worst_ulps, 0);
  EXPECT_FALSE(accepts(floats({kInfinity}), floats({-kInfinity}), ulps(1e300)));
  EXPECT_FALSE(accepts(floats({kInfinity}), floats({3e38}), ulps(1e300)));
  EXPECT_FALSE(accepts(floats({3e38}), floats({kInfinity}), ulps(1e300)));
}

TEST(ComparatorMistake, OverflowingInTheDifferenceOfTwoLargeNumbers) {
  EXPECT_FALSE(accepts(doubles({1e308}), doubles({-1e308}), ulps(1e300)));
  EXPECT_FALSE(always_accepts(floats({3e38}), floats({-3e38})));
}

TEST(ComparatorMistake, HavingAToleranceThatNobodyChose) {
  const at::Tensor want = floats({1});
  const at::Tensor got = floats({std::nextafter(1.0f, 2.0f)});
  EXPECT_FALSE(accepts(got, want, exact()));
  EXPECT_FALSE(accepts(got, want, ulps(0)));
  EXPECT_FALSE(accepts(got, want, ulps(0.999)));
  EXPECT_TRUE(accepts(got, want, ulps(1)));  // the tolerance is exactly the chosen one
}

TEST(ComparatorMistake, TakingADoubleThatWentThroughFloat) {
  const at::Tensor want = doubles({1.0 / 3});
  const at::Tensor got = want.to(c10::kFloat).to(c10::kDouble);
  ASSERT_LT(std::abs(got.const_data_ptr<double>()[0] - 1.0 / 3), 1e-7 / 3);  // assert_close accepts it
  EXPECT_FALSE(accepts(got, want, ulps(1e6)));
  EXPECT_TRUE(accepts(want.to(c10::kFloat), want, ulps(0.5)));  // but in float it is correctly rounded
}

TEST(ComparatorMistake, DividingByAZeroThatIsWanted) {
  const Comparison found = compare(floats({0x1p-149, 0}), floats({0, 0}), ulps(1));
  EXPECT_TRUE(found.within());
  EXPECT_EQ(found.worst_ulps, 1);
  EXPECT_FALSE(accepts(floats({1e-30}), floats({0}), ulps(4)));
}

TEST(ComparatorMistake, SwallowingSmallNumbersInAnAbsoluteTolerance) {
  EXPECT_FALSE(accepts(floats({2e-10}), floats({1e-10}), ulps(4)));
  EXPECT_FALSE(accepts(floats({0}), floats({1e-10}), ulps(4)));
  EXPECT_FALSE(accepts(doubles({1e-300}), doubles({2e-300}), ulps(4)));
  EXPECT_TRUE(accepts(floats({std::nextafter(1e-10f, 1.0f)}), floats({1e-10f}), ulps(4)));
}

TEST(ComparatorMistake, FailingLargeNumbersByAnAbsoluteTolerance) {
  EXPECT_TRUE(accepts(floats({std::nextafter(1e30f, 1e38f)}), floats({1e30f}), ulps(1)));
  EXPECT_FALSE(accepts(floats({1.001e30}), floats({1e30}), ulps(4)));
}

// |got - want| <= rtol * |got| tolerates more the larger the wrong result is.
TEST(ComparatorMistake, MeasuringAtTheResultThatIsJudged) {
  const Comparison too_large = compare(floats({1024}), floats({1}), ulps(1));
  const Comparison too_small = compare(floats({1}), floats({1024}), ulps(1));
  EXPECT_EQ(too_large.worst_ulps, 1023 * 0x1p23);  // in ulps of the wanted value
  EXPECT_EQ(too_small.worst_ulps, 1023 * 0x1p13);
}

TEST(ComparatorMistake, OverflowingInTheDifferenceOfIntegers) {
  const auto least = std::numeric_limits<int64_t>::min();
  const auto most = std::numeric_limits<int64_t>::max();
  EXPECT_FALSE(always_accepts(tensor_of<int64_t>({1}, {least}), tensor_of<int64_t>({1}, {most})));
  EXPECT_FALSE(
      always_accepts(tensor_of<int64_t>({1}, {least}), tensor_of<int64_t>({1}, {0})));  // |least| < 0
  EXPECT_FALSE(always_accepts(tensor_of<uint8_t>({1}, {0}), tensor_of<uint8_t>({1}, {255})));
  EXPECT_FALSE(always_accepts(tensor_of<uint8_t>({1}, {255}), tensor_of<uint8_t>({1}, {0})));
  EXPECT_TRUE(always_accepts(tensor_of<int64_t>({2}, {least, most}), tensor_of<int64_t>({2}, {least, most})));
}

TEST(ComparatorMistake, ComparingIntegersThroughAFloatingDtype) {
  const int64_t large = int64_t{1} << 53;
  EXPECT_FALSE(always_accepts(tensor_of<int64_t>({1}, {large + 1}), tensor_of<int64_t>({1}, {large})));
  EXPECT_FALSE(always_accepts(tensor_of<int>({1}, {(1 << 24) + 1}), tensor_of<int>({1}, {1 << 24})));
  EXPECT_TRUE(always_accepts(tensor_of<int64_t>({1}, {large + 1}), tensor_of<int64_t>({1}, {large + 1})));
}

// A bool's byte that is neither 0 nor 1 is a defect: it breaks code that counts or adds bools later.
TEST(ComparatorMistake, LoadingABoolThatIsNone) {
  const at::Tensor truth = tensor_of<bool>({2}, {true, false});
  const at::Tensor two = tensor_of<uint8_t>({2}, {2, 0}).view(c10::kBool);
  EXPECT_FALSE(always_accepts(two, truth));
  EXPECT_EQ(compare(two, truth, exact()).first, 0);
  EXPECT_FALSE(always_accepts(tensor_of<bool>({2}, {true, true}), truth));
  EXPECT_TRUE(always_accepts(truth.clone(), truth));
}

TEST(ComparatorMistake, ComparingComplexNumbersByTheirModulus) {
  using Complex = c10::complex<float>;
  const auto one = [](float real, float imag) { return tensor_of<Complex>({1}, {Complex(real, imag)}); };
  EXPECT_FALSE(accepts(one(3, 4), one(4, 3), ulps(4)));
  EXPECT_FALSE(accepts(one(5, 0), one(-5, 0), ulps(4)));
  EXPECT_FALSE(accepts(one(1e10f, 2e-5f), one(1e10f, 1e-5f), ulps(4)));  // each part counts by itself
  EXPECT_TRUE(accepts(one(3, std::nextafter(4.0f, 5.0f)), one(3, 4), ulps(1)));
}

TEST(ComparatorMistake, TakingANanInOnePartOfAComplexNumberForAnother) {
  using Complex = c10::complex<double>;
  const auto one = [](double real, double imag) { return tensor_of<Complex>({1}, {Complex(real, imag)}); };
  EXPECT_FALSE(accepts(one(kNan, 1), one(1, kNan), ulps(1e300)));
  EXPECT_FALSE(accepts(one(kNan, 1), one(kNan, 2), ulps(4)));
  EXPECT_FALSE(accepts(one(1, kNan), one(1, 1), ulps(1e300)));
  EXPECT_FALSE(accepts(one(kInfinity, kNan), one(kNan, kInfinity), ulps(1e300)));
  EXPECT_TRUE(accepts(one(kNan, 1), one(kNan, 1), ulps(0)));
}

TEST(ComparatorMistake, RaisingForDtypesThatHaveNoArithmetic) {
  for (const c10::ScalarType dtype : every_dtype()) {
    const at::Tensor want = make_values({"special", {}}, 1, {64}, dtype);
    at::Tensor got = want.clone();
    EXPECT_TRUE(always_accepts(got, want)) << dtype_name(dtype);
    static_cast<std::byte*>(got.mutable_data_ptr())[33 * got.element_size()] ^= std::byte{1};
    EXPECT_EQ(compare(got, want, exact()).first, 33) << dtype_name(dtype);
  }
}

TEST(ComparatorMistake, ReadingTheGapsOfAView) {
  at::Tensor base = counted({8, 8});
  at::Tensor other = base.clone();
  const auto every_other = [](const at::Tensor& tensor) {
    return tensor.slice(0, 0, 8, 2).slice(1, 1, 8, 3);
  };
  other[1].fill_(-1);  // a row that the view leaves out
  EXPECT_TRUE(always_accepts(every_other(other), every_other(base)));
  other[2][4].fill_(-1);
  EXPECT_FALSE(always_accepts(every_other(other), every_other(base)));
  EXPECT_EQ(compare(every_other(other), every_other(base), exact()).first, 4);  // row 1, column 1 of three
}

TEST(ComparatorMistake, TakingStorageOrderForTheOrderOfElements) {
  const at::Tensor square = counted({4, 4});
  EXPECT_FALSE(always_accepts(square.t(), square));
  EXPECT_TRUE(always_accepts(square.t(), square.t().contiguous()));
  EXPECT_TRUE(always_accepts(counted({1}).expand({3, 5}), at::full({3, 5}, 0.0f)));
  EXPECT_FALSE(always_accepts(counted({5}).expand({3, 5}), at::full({3, 5}, 0.0f)));
}

TEST(ComparatorMistake, ReadingTheMemoryOfALazyConjugateOrNegative) {
  using Complex = c10::complex<float>;
  const at::Tensor lazy = tensor_of<Complex>({1}, {Complex(1, 2)}).conj();
  EXPECT_TRUE(always_accepts(lazy, tensor_of<Complex>({1}, {Complex(1, -2)})));
  EXPECT_FALSE(always_accepts(lazy, tensor_of<Complex>({1}, {Complex(1, 2)})));
  const at::Tensor negative = at::_neg_view(floats({1}));
  EXPECT_TRUE(always_accepts(negative, floats({-1})));
  EXPECT_FALSE(always_accepts(negative, floats({1})));
}

TEST(ComparatorMistake, ReportingNoErrorWhereAllIsWithinTheBound) {
  const Comparison found = compare(floats({1, 1 + 0x1p-22, 1 + 0x1p-23}), floats({1, 1, 1}), ulps(100));
  EXPECT_TRUE(found.within());
  EXPECT_EQ(found.worst_ulps, 2);
  EXPECT_EQ(found.worst, 1);
}

}  // namespace
}  // namespace opgate::comparator_mistakes_test
