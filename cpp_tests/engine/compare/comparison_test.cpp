// The comparison finds what others ignore: shapes, dtypes, NaN, the sign of zero, one wrong
// element.
// The mistakes that published comparators made are in comparator_mistakes_test.cpp.
#include <ATen/ops/full.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <opgate/error.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "base/dtypes.h"
#include "compare/comparison.h"
#include "support.h"
#include "values/domain.h"

namespace opgate::comparison_test {
namespace {

using testing::counted;
using ::testing::HasSubstr;
using testing::message_of;
using testing::tensor_of;

float from_bits(uint32_t bits) {
  float value = 0;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

at::Tensor floats(const std::vector<float>& values) {
  return tensor_of<float>({static_cast<int64_t>(values.size())}, values);
}

at::Tensor doubles(const std::vector<double>& values) {
  return tensor_of<double>({static_cast<int64_t>(values.size())}, values);
}

bool agree(const at::Tensor& got, const at::Tensor& want) { return compare(got, want, exact()).within(); }

std::string unlike(const at::Tensor& got, const at::Tensor& want, Accuracy accuracy = exact()) {
  return compare(got, want, accuracy).unlike.value_or("alike");
}

std::string difference(const at::Tensor& got, const at::Tensor& want, Accuracy accuracy = exact()) {
  return difference_text(compare(got, want, accuracy), got, want);
}

TEST(ExactComparison, TellsMinusZeroFromZero) {
  EXPECT_FALSE(agree(floats({-0.0f}), floats({0.0f})));
  EXPECT_TRUE(agree(floats({-0.0f}), floats({-0.0f})));
  EXPECT_FALSE(agree(doubles({0.0}), doubles({-0.0})));
}

// An H100 gives a sum in which a lazily negated NaN takes part another sign than the plain one.
TEST(ExactComparison, TakesEachNanForEachOther) {
  EXPECT_TRUE(agree(floats({from_bits(0x7FC00001)}), floats({from_bits(0x7FC00000)})));
  EXPECT_TRUE(agree(floats({from_bits(0xFFC00000)}), floats({from_bits(0x7FC00000)})));
  EXPECT_FALSE(agree(floats({from_bits(0x7FC00000)}), floats({INFINITY})));
  EXPECT_FALSE(agree(floats({1}), floats({from_bits(0x7FC00000)})));
}

TEST(ExactComparison, SeesTheNextNumber) {
  EXPECT_FALSE(agree(floats({std::nextafter(1.0f, 2.0f)}), floats({1.0f})));
  EXPECT_FALSE(agree(tensor_of<int64_t>({1}, {(int64_t{1} << 53) + 1}),
                     tensor_of<int64_t>({1}, {int64_t{1} << 53})));  // both are the same number as doubles
}

TEST(Comparison, BroadcastsNoShape) {
  const at::Tensor ones = at::full({2, 3}, 1.0);
  EXPECT_EQ(unlike(at::full({1}, 1.0), at::full({4}, 1.0)), "shape [1], not [4]");
  EXPECT_EQ(unlike(ones, ones.t()), "shape [2, 3], not [3, 2]");
  EXPECT_EQ(unlike(ones, ones.view({6})), "shape [2, 3], not [6]");
  EXPECT_EQ(unlike(at::full({}, 1.0), at::full({1}, 1.0), ulps(4)), "shape [], not [1]");
  EXPECT_EQ(unlike(at::full({0, 3}, 1.0), at::full({3, 0}, 1.0)), "shape [0, 3], not [3, 0]");
}

TEST(Comparison, ConvertsNoDtypeSilently) {
  EXPECT_EQ(unlike(floats({1}), doubles({1})), "dtype float32, not float64");
  EXPECT_EQ(unlike(tensor_of<int>({1}, {1}), tensor_of<int64_t>({1}, {1})), "dtype int32, not int64");
  EXPECT_EQ(unlike(tensor_of<int>({1}, {1}), floats({1}), ulps(4)), "dtype int32, not float32");
  EXPECT_EQ(unlike(floats({1}), tensor_of<int>({1}, {1}), ulps(4)), "dtype float32, not int32");
  EXPECT_EQ(unlike(floats({1}), tensor_of<c10::complex<double>>({1}, {1}), ulps(4)),
            "dtype float32, not complex128");
}

TEST(Comparison, TakesAWiderWantButNoNarrowerOne) {
  EXPECT_TRUE(compare(floats({0.1f}), doubles({0.1}), ulps(0.5)).within());
  EXPECT_EQ(unlike(doubles({1}), floats({1}), ulps(4)), "dtype float64, not float32");
  EXPECT_EQ(unlike(floats({1}), floats({1}).to(c10::kHalf), ulps(4)), "dtype float32, not float16");
}

TEST(Comparison, FindsOneWrongElementAmongManyInStridedTensors) {
  const at::Tensor want = counted({40, 60}).t().slice(0, 0, 60, 2);  // [30, 40], both strides unusual
  const at::Tensor got = at::full({30, 80}, -1.0f).slice(1, 1, 80, 2);
  got.copy_(want);
  ASSERT_FALSE(got.is_contiguous() || want.is_contiguous());
  for (const Accuracy accuracy : {exact(), ulps(4)}) {
    ASSERT_TRUE(compare(got, want, accuracy).within());
    got[17][5].add_(1);
    const Comparison found = compare(got, want, accuracy);
    got.copy_(want);
    EXPECT_EQ(found.differing, 1);
    EXPECT_EQ(found.total, 1200);
    EXPECT_EQ(found.first, 17 * 40 + 5);
  }
}

TEST(Comparison, SeesTheChangeOfOneElementInEveryDtype) {
  for (const c10::ScalarType dtype : every_dtype()) {
    const at::Tensor want = make_values({"positive", {}}, 1, {9}, dtype);
    const at::Tensor got = want.clone();
    static_cast<std::byte*>(got.mutable_data_ptr())[7 * got.element_size()] ^= std::byte{1};
    EXPECT_TRUE(agree(want, want.clone())) << dtype_name(dtype);
    EXPECT_EQ(compare(got, want, exact()).first, 7) << dtype_name(dtype);
    EXPECT_FALSE(compare(got, want, ulps(0.4)).within()) << dtype_name(dtype);
  }
}

TEST(UlpComparison, IncludesItsBound) {
  const at::Tensor want = floats({1, 2, 3});
  const at::Tensor got = floats({1, std::nextafter(2.0f, 3.0f), 3});
  EXPECT_TRUE(compare(got, want, ulps(1)).within());
  EXPECT_FALSE(compare(got, want, ulps(0.999)).within());
}

TEST(UlpComparison, RecordsTheWorstErrorAlsoWhereItPasses) {
  const at::Tensor want = floats({1, 1, 1, 1});
  const at::Tensor got = floats({1, 1 + 0x1p-23f, 1 + 3 * 0x1p-23f, 1});
  const Comparison comparison = compare(got, want, ulps(4));
  EXPECT_TRUE(comparison.within());
  EXPECT_EQ(comparison.worst_ulps, 3);
  EXPECT_EQ(comparison.worst, 2);
  EXPECT_EQ(compare(want, want, ulps(4)).worst, -1);
}

TEST(UlpComparison, FailsWhereOnlyOneIsNanWhateverTheBound) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(compare(floats({nan}), floats({1}), ulps(1e300)).within());
  EXPECT_FALSE(compare(floats({1}), floats({nan}), ulps(1e300)).within());
  EXPECT_TRUE(compare(floats({nan}), floats({from_bits(0xFFC00001)}), ulps(0)).within());
}

// A comparator with a relative tolerance for double (1e-5 in numpy's and torch's allclose) accepts a result
// that was computed in float in between.
TEST(UlpComparison, SeesADoubleThatWentThroughFloat) {
  const double third = 1.0 / 3;
  const double through_float = static_cast<float>(third);
  ASSERT_LT(std::abs(through_float - third), 1e-5 * third);
  EXPECT_FALSE(compare(doubles({through_float}), doubles({third}), ulps(64)).within());
  EXPECT_GT(compare(doubles({through_float}), doubles({third}), ulps(64)).worst_ulps, 1e6);
}

TEST(UlpComparison, HasNoToleranceForIntegers) {
  EXPECT_FALSE(compare(tensor_of<int>({1}, {101}), tensor_of<int>({1}, {100}), ulps(4)).within());
  EXPECT_FALSE(compare(tensor_of<bool>({1}, {true}), tensor_of<bool>({1}, {false}), ulps(4)).within());
}

TEST(UlpComparison, LooksAtBothPartsOfAComplexNumber) {
  using Complex = c10::complex<float>;
  const at::Tensor want = tensor_of<Complex>({2}, {Complex(1, 1), Complex(1, 1)});
  const at::Tensor got = tensor_of<Complex>({2}, {Complex(1, 1), Complex(1, 1.5)});
  EXPECT_EQ(compare(got, want, ulps(4)).first, 1);
  EXPECT_EQ(difference(got, want),
            "1 of 2 elements differ, the first at [1]: got (1, 1.5), want (1, 1) (4.19e+06 ulps)");
}

TEST(UlpComparison, CountsUlpsOfALessPreciseDtypeWhereThatIsNamed) {
  const at::Tensor want = doubles({1.0 / 3}), got = doubles({static_cast<float>(1.0 / 3)});
  EXPECT_FALSE(compare(got, want, ulps(64)).within());
  const Comparison in_floats = compare(got, want, ulps(0.5).of(c10::kFloat));
  EXPECT_TRUE(in_floats.within());
  EXPECT_GT(in_floats.worst_ulps, 0.1);
  EXPECT_FALSE(compare(got + 0x1p-23, want, ulps(2).of(c10::kFloat)).within());
  const at::Tensor far = got + 1;
  EXPECT_EQ(difference_text(compare(far, want, ulps(2).of(c10::kFloat)), far, want),
            "1 of 1 elements differ, the first at [0]: got 1.3333333432674408, want 0.33333333333333331 "
            "(3.36e+07 ulps of float32)");
}

TEST(UlpComparison, IsNotTightenedByAMorePreciseDtype) {
  const at::Tensor want = doubles({1.0 / 3}), got = tensor_of<float>({1}, {1.0f / 3});
  EXPECT_TRUE(compare(got, want, ulps(0.5).of(c10::kDouble)).within());
  EXPECT_TRUE(compare(got, want, ulps(0.5).of(c10::kLong)).within());
  EXPECT_EQ(compare(got, want, ulps(0.5).of(c10::kDouble)).ulps_of, std::nullopt);
}

TEST(UlpComparison, CountsNoUlpsOfAnotherDtypeInIntegersOrBits) {
  EXPECT_FALSE(
      compare(tensor_of<int>({1}, {101}), tensor_of<int>({1}, {100}), ulps(4).of(c10::kHalf)).within());
  EXPECT_FALSE(compare(doubles({-0.0}), doubles({0.0}), exact().of(c10::kHalf)).within());
}

TEST(ScaledComparison, TakesTheScaleForTheUnitWhereItIsLargerThanTheResult) {
  const at::Tensor want = floats({0, 1, 1024});
  const at::Tensor got = floats({0x1p-20f, 1 + 0x1p-20f, 1024 + 0x1p-10f});
  const at::Tensor scale = floats({16, 16, 16});
  const Comparison found = compare(got, want, ulps(8).scaled_by_inputs(), scale);
  EXPECT_TRUE(found.within());
  EXPECT_TRUE(found.by_inputs);
  EXPECT_EQ(found.worst_ulps, 8);  // of 1024, whose unit is 2^-13: its own magnitude is the larger one
  EXPECT_EQ(found.worst, 2);
  EXPECT_EQ(compare(got, want, ulps(0.25).scaled_by_inputs(), scale).first, 0);
  EXPECT_EQ(compare(got, want, ulps(0.25).scaled_by_inputs(), scale).first_ulps, 0.5);
}

TEST(ScaledComparison, IsUnscaledWhereTheSpecOrTheScaleIsMissing) {
  const at::Tensor want = floats({1});
  const at::Tensor got = floats({1 + 0x1p-20f});
  EXPECT_FALSE(compare(got, want, ulps(4), floats({16})).within());
  EXPECT_FALSE(compare(got, want, ulps(4).scaled_by_inputs()).within());
  EXPECT_FALSE(compare(got, want, ulps(4).scaled_by_inputs()).by_inputs);
  EXPECT_TRUE(compare(got, want, ulps(4).scaled_by_inputs(), floats({16})).within());
}

TEST(ScaledComparison, TakesADoubleReferenceAndScaleInUlpsOfTheOutput) {
  const at::Tensor want = doubles({0.1});
  const at::Tensor got = floats({0.1f + 0x1p-20f});
  EXPECT_FALSE(compare(got, want, ulps(2)).within());
  EXPECT_TRUE(compare(got, want, ulps(2).scaled_by_inputs(), doubles({8})).within());
}

TEST(ScaledComparison, MeasuresEachPartOfAComplexNumberAtTheModulusOfTheScale) {
  using Complex = c10::complex<double>;
  const at::Tensor want = tensor_of<Complex>({1}, {Complex(0, 5)});
  const at::Tensor got = tensor_of<Complex>({1}, {Complex(0x1p-50, 5)});
  const auto accuracy = ulps(1).scaled_by_inputs();
  EXPECT_FALSE(compare(got, want, accuracy).within());
  EXPECT_EQ(compare(got, want, accuracy, tensor_of<Complex>({1}, {Complex(3, 4)})).worst_ulps, 1);
  EXPECT_EQ(compare(got, want, accuracy, doubles({5})).worst_ulps, 1);
  EXPECT_EQ(compare(got, want, accuracy, doubles({3})).worst_ulps, 2);
}

TEST(ScaledComparison, IsNotLoosenedByAScaleThatIsNanOrInfinite) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto accuracy = ulps(4).scaled_by_inputs();
  EXPECT_FALSE(compare(floats({2}), floats({1}), accuracy, floats({nan})).within());
  EXPECT_FALSE(compare(doubles({1e300}), doubles({1}), accuracy, doubles({INFINITY})).within());
  EXPECT_FALSE(compare(floats({nan}), floats({1}), accuracy, floats({INFINITY})).within());
  EXPECT_FALSE(compare(floats({INFINITY}), floats({1}), accuracy, floats({1e30f})).within());
}

TEST(ScaledComparison, NamesAScaleOfAnotherShape) {
  EXPECT_THAT(message_of<SpecError>([] {
                compare(floats({1, 2}), floats({1, 2}), ulps(4).scaled_by_inputs(), floats({1}));
              }),
              HasSubstr("a scale of shape [1], but the result has shape [2]"));
}

TEST(ScaledComparison, SaysSoInItsText) {
  const at::Tensor want = floats({0});
  const at::Tensor got = floats({1});
  EXPECT_EQ(difference_text(compare(got, want, ulps(4).scaled_by_inputs(), floats({1})), got, want),
            "1 of 1 elements differ, the first at [0]: got 1, want 0 (8.39e+06 ulps at the inputs' scale)");
}

TEST(Comparison, TellsNoTensorFromOne) {
  EXPECT_EQ(unlike(floats({1}), at::Tensor()), "a tensor, not none");
  EXPECT_EQ(unlike(at::Tensor(), floats({1}), ulps(4)), "no tensor, not one");
  EXPECT_TRUE(agree(at::Tensor(), at::Tensor()));
}

TEST(Comparison, FindsNothingWrongWithNoElements) {
  const Comparison comparison = compare(at::full({0, 3}, 1.0), at::full({0, 3}, 2.0), exact());
  EXPECT_TRUE(comparison.within());
  EXPECT_EQ(comparison.total, 0);
}

TEST(DifferenceText, SaysHowManyWhereAndHowFar) {
  const at::Tensor want = tensor_of<float>({2, 3}, {1, 1, 1, 2, 1, 1});
  const at::Tensor got = tensor_of<float>({2, 3}, {1, 1, 1, std::nextafter(2.0f, 3.0f), 1, 7});
  EXPECT_EQ(difference(got, want),
            "2 of 6 elements differ, the first at [1, 0]: got 2.00000024, want 2 (1 ulps)");
  EXPECT_EQ(difference(want, want), "no element differs");
  EXPECT_EQ(difference(want, want.t()), "shape [2, 3], not [3, 2]");
}

TEST(DifferenceText, ShowsWhatPrintsAlike) {
  EXPECT_EQ(difference(floats({-0.0f}), floats({0.0f})),
            "1 of 1 elements differ, the first at [0]: got -0, want 0");
  EXPECT_EQ(difference(floats({from_bits(0x7FC00001)}), floats({1})),
            "1 of 1 elements differ, the first at [0]: got nan (0x7fc00001), want 1");
  EXPECT_EQ(difference(tensor_of<bool>({2}, {true, false}), tensor_of<bool>({2}, {true, true})),
            "1 of 2 elements differ, the first at [1]: got False, want True");
  EXPECT_EQ(difference(floats({INFINITY}), floats({1}), ulps(4)),
            "1 of 1 elements differ, the first at [0]: got inf, want 1");
}

TEST(DifferenceText, ShowsTheBytesOfWhatIsNoNumber) {
  const at::Tensor want = make_values({"literal", {1, 2}}, 0, {2}, c10::kBits8);
  const at::Tensor got = make_values({"literal", {1, 63}}, 0, {2}, c10::kBits8);
  EXPECT_EQ(difference(got, want, ulps(4)), "1 of 2 elements differ, the first at [1]: got 0x3f, want 0x2");
  EXPECT_EQ(difference(got.view(c10::kFloat4_e2m1fn_x2), want.view(c10::kFloat4_e2m1fn_x2)),
            "1 of 2 elements differ, the first at [1]: got 0x3f, want 0x2");
}

TEST(Neighbourhood, ShowsThreeOnEachSideOfTheFirstDifference) {
  const at::Tensor want = counted({2, 10});
  const at::Tensor got = want.clone();
  got[1][5].fill_(-1);
  EXPECT_EQ(neighbourhood(compare(got, want, exact()), got, want),
            (std::vector<std::string>{"got  ... 12  13  14  >-1<  16  17  18 ...",
                                      "want ... 12  13  14  >15<  16  17  18 ..."}));
}

TEST(Neighbourhood, StaysInItsRow) {
  const at::Tensor want = counted({3, 4});
  const at::Tensor got = want.clone();
  got[1][0].fill_(-1);
  EXPECT_EQ(neighbourhood(compare(got, want, exact()), got, want),
            (std::vector<std::string>{"got  >-1<  5  6  7", "want >4<  5  6  7"}));
}

TEST(Neighbourhood, IsNothingWithoutADifferenceOrARow) {
  const at::Tensor want = counted({3, 4});
  EXPECT_TRUE(neighbourhood(compare(want, want, exact()), want, want).empty());
  const at::Tensor one = at::full({}, 1.0);
  const at::Tensor two = at::full({}, 2.0);
  EXPECT_TRUE(neighbourhood(compare(one, two, exact()), one, two).empty());
}

}  // namespace
}  // namespace opgate::comparison_test
