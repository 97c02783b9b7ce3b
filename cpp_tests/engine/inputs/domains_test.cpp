// What each domain of values promises to the author of a spec, in every dtype.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <opgate/error.h>
#include <opgate/sample.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <set>

#include "base/dtypes.h"
#include "base/registry.h"
#include "support.h"
#include "values/domain.h"
#include "values/parts.h"

namespace opgate::domains_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::message_of;
using ::testing::NanSensitiveDoubleEq;
using testing::same_bits;

constexpr int64_t kMany = 20000;
constexpr uint64_t kKey = 7;

at::Tensor made(const TensorArgument& argument, c10::ScalarType swept = c10::kFloat, uint64_t key = kKey) {
  return make_values(argument.domain, key, argument.shape, argument.dtype.value_or(swept));
}

// The parts of all elements as doubles; the elements of opaque dtypes as integers.
std::vector<double> numbers(const at::Tensor& tensor) {
  std::vector<double> all;
  visit_parts(tensor, [&]<class T>(const T* parts, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) {
      if constexpr (Opaque<T>) {
        all.push_back(parts[i].val_);
      } else {
        all.push_back(static_cast<double>(parts[i]));
      }
    }
  });
  return all;
}

std::vector<int64_t> integers(const at::Tensor& tensor) {
  const std::vector<double> all = numbers(tensor);
  return {all.begin(), all.end()};
}

std::set<double> magnitudes(const at::Tensor& tensor) {
  std::set<double> found;
  for (const double number : numbers(tensor)) found.insert(std::abs(number));
  return found;
}

int64_t count_of(const at::Tensor& tensor, const std::function<bool(double)>& property) {
  return std::ranges::count_if(numbers(tensor), property);
}

bool has_sign_bit(double number) { return std::signbit(number); }
bool is_infinite(double number) { return std::isinf(number); }
bool is_nan(double number) { return std::isnan(number); }

const std::vector<TensorArgument>& mixtures(const Shape& shape) {
  static std::map<Shape, std::vector<TensorArgument>> made_before;
  return made_before
      .try_emplace(shape, std::vector<TensorArgument>{extremes(shape), subnormals(shape), signed_zeros(shape),
                                                      infinities(shape), nans(shape), special(shape)})
      .first->second;
}

// The domains that can be used with any dtype.
std::vector<TensorArgument> for_any_dtype(const Shape& shape) {
  std::vector<TensorArgument> all = mixtures(shape);
  all.push_back(uniform(shape));
  all.push_back(positive(shape));
  all.push_back({shape, {"literal", {1, 2.5, -3}}, std::nullopt});
  return all;
}

TEST(EveryDomain, CanBeWrittenDownAndReadBack) {
  const TensorArgument fixed[] = {indices({3}, 9), sorted_indices({3}, 9), offsets(3, 9), permutation(3),
                                  values({2}, {1, 2})};
  std::set<std::string> families;
  for (const TensorArgument& argument : for_any_dtype({3})) families.insert(argument.domain.family);
  for (const TensorArgument& argument : fixed) {
    families.insert(argument.domain.family);
    EXPECT_EQ(domain_from_string(to_string(argument.domain)), argument.domain);
  }
  // Fails if a family is added and not listed above, because it would not be tested.
  EXPECT_EQ(families.size(), Registry<DomainFamily>::instance().parts().size());
}

TEST(EveryDomain, GivesElementIWhateverTheCountAndTheShape) {
  for (const c10::ScalarType dtype : every_dtype()) {
    for (const TensorArgument& argument : for_any_dtype({1000})) {
      const at::Tensor many = made(argument, dtype);
      const auto again = [&](Shape shape) { return make_values(argument.domain, kKey, shape, dtype); };
      EXPECT_TRUE(same_bits(again({17}), many.slice(0, 0, 17)))
          << argument.domain.family << dtype_name(dtype);
      EXPECT_TRUE(same_bits(again({5, 200}), many.view({5, 200})))
          << argument.domain.family << dtype_name(dtype);
    }
  }
}

TEST(EveryDomain, MakesAnEmptyAndAZeroDimTensor) {
  for (const c10::ScalarType dtype : every_dtype()) {
    for (const TensorArgument& argument : for_any_dtype({})) {
      EXPECT_EQ(made(argument, dtype).dim(), 0);
      EXPECT_EQ(make_values(argument.domain, kKey, {0, 3}, dtype).numel(), 0);
    }
  }
}

TEST(Positive, IsNeverZeroAndNeverNegativeInAnyDtype) {
  for (const c10::ScalarType dtype : every_dtype()) {
    const at::Tensor tensor = made(positive({kMany}), dtype);
    if (visit_dtype(dtype, []<class T>() { return Opaque<T>; })) continue;  // bits have no order
    const bool floating = c10::isFloatingType(dtype) || c10::isComplexType(dtype);
    const double most = floating || dtype == c10::kBool ? 1 : 100;
    for (const double number : numbers(tensor))
      ASSERT_TRUE(number > 0 && number <= most) << dtype_name(dtype);
    EXPECT_GT(std::ranges::max(numbers(tensor)), 0.99 * most) << dtype_name(dtype);
  }
}

// The shortest formats round numbers below about 1/2^10 to 0, and a sample of this size has such a number.
TEST(Positive, TakesTheSmallestNormalNumberInPlaceOfZero) {
  const std::vector<double> eighths = numbers(made(positive({kMany}), c10::kFloat8_e4m3fn));
  const std::vector<double> exact = numbers(made(positive({kMany}), c10::kDouble));
  int64_t replaced = 0;
  for (size_t i = 0; i < exact.size(); ++i) {
    if (exact[i] > 0x1p-10) continue;
    EXPECT_EQ(eighths[i], 0x1p-6) << exact[i];
    ++replaced;
  }
  EXPECT_GT(replaced, 0);
}

TEST(Indices, CoverTheWholeDomainAndNothingElse) {
  const std::vector<int64_t> found = integers(made(indices({kMany}, 100)));
  const std::set<int64_t> distinct(found.begin(), found.end());
  EXPECT_EQ(distinct.size(), 100u);
  EXPECT_EQ(*distinct.begin(), 0);
  EXPECT_EQ(*distinct.rbegin(), 99);
}

TEST(Indices, StayLongUnlessTheSpecSaysOtherwise) {
  EXPECT_EQ(made(indices({4}, 9), c10::kHalf).scalar_type(), c10::kLong);
  EXPECT_EQ(made(indices({4}, 9).of(c10::kInt), c10::kHalf).scalar_type(), c10::kInt);
  EXPECT_EQ(made(offsets(4, 9)).scalar_type(), c10::kLong);
  EXPECT_EQ(made(permutation(4).of(c10::kInt)).scalar_type(), c10::kInt);
}

TEST(Indices, HaveTheSameValuesInEveryDtypeOfIntegers) {
  const std::vector<int64_t> want = integers(made(indices({50}, 100)));
  for (const c10::ScalarType dtype :
       {c10::kByte, c10::kChar, c10::kShort, c10::kInt, c10::kUInt16, c10::kUInt64}) {
    EXPECT_EQ(integers(made(indices({50}, 100).of(dtype))), want) << dtype_name(dtype);
  }
}

TEST(Indices, NameWhatIsWrongWithDtypeAndBound) {
  const auto refusal = [](auto action) { return message_of<SpecError>([&] { action(); }); };
  for (const c10::ScalarType dtype : {c10::kFloat, c10::kBool, c10::kComplexFloat, c10::kBits8}) {
    const std::string said = refusal([&] { made(indices({4}, 9).of(dtype)); });
    EXPECT_THAT(said, HasSubstr("indices(9) is made of integers, and " + std::string(dtype_name(dtype))));
    EXPECT_THAT(said, HasSubstr(".of(at::kLong)"));
  }
  EXPECT_THAT(refusal([] { made(indices({4}, 129).of(c10::kChar)); }),
              HasSubstr("reaches 128, which int8 cannot hold"));
  EXPECT_EQ(refusal([] { made(indices({4}, 128).of(c10::kChar)); }), "nothing was thrown");
  EXPECT_THAT(refusal([] { indices({4}, -1); }), HasSubstr("-1 is not a whole number from 0"));
  EXPECT_THAT(refusal([] { indices({4}, 0); }), HasSubstr("no index below 0"));
  EXPECT_EQ(refusal([] { made(indices({0, 4}, 0)); }), "nothing was thrown");
  EXPECT_THAT(refusal([] {
                make_values({"indices", {2.5}}, 1, {4}, c10::kLong);
              }),
              HasSubstr("2.5 is not a whole number"));
  EXPECT_THAT(refusal([] { offsets(-1, 4); }), HasSubstr("number of elements is negative"));
}

TEST(SortedIndices, AscendWithRepeatsAndGaps) {
  const std::vector<int64_t> found = integers(made(sorted_indices({30, 20}, 500)));
  EXPECT_TRUE(std::ranges::is_sorted(found));
  EXPECT_GE(found.front(), 0);
  EXPECT_LT(found.back(), 500);
  const std::set<int64_t> distinct(found.begin(), found.end());
  EXPECT_LT(distinct.size(), 500u);
  EXPECT_NE(std::ranges::adjacent_find(found), found.end());
}

TEST(Offsets, DivideTheWholeRangeAndLeaveSomeIntervalsEmpty) {
  for (const int64_t n : {0, 1, 7, 1000, 1 << 30}) {
    for (const int64_t count : {2, 3, 4, 200}) {
      const std::vector<int64_t> found = integers(made(offsets(count, n)));
      ASSERT_EQ(found.front(), 0);
      ASSERT_EQ(found.back(), n);
      ASSERT_TRUE(std::ranges::is_sorted(found)) << count << " boundaries of " << n;
    }
  }
  const std::vector<int64_t> found = integers(made(offsets(200, 1 << 30)));
  EXPECT_NE(std::ranges::adjacent_find(found), found.end());
  EXPECT_THAT(integers(made(offsets(1, 5))), ElementsAre(0));
  EXPECT_THAT(integers(made(offsets(0, 5))), ElementsAre());
}

TEST(Permutation, HasEachNumberOnceAndNotInOrder) {
  std::vector<int64_t> found = integers(made(permutation(1000)));
  EXPECT_FALSE(std::ranges::is_sorted(found));
  EXPECT_NE(found, integers(made(permutation(1000), c10::kLong, kKey + 1)));
  std::ranges::sort(found);
  std::vector<int64_t> want(1000);
  std::iota(want.begin(), want.end(), int64_t{0});
  EXPECT_EQ(found, want);
}

TEST(Literal, IsWhatTheAuthorWrote) {
  EXPECT_THAT(numbers(made(values({2, 2}, {1, -2.5, 1e30, 0}))), ElementsAre(1, -2.5, 1e30f, 0));
  EXPECT_EQ(numbers(made(values({1}, {0.1}), c10::kDouble))[0], 0.1);
  EXPECT_TRUE(std::signbit(numbers(made(values({1}, {-0.0})))[0]));
  EXPECT_THAT(numbers(made(values({2}, {3, 4}), c10::kComplexFloat)), ElementsAre(3, 0, 4, 0));
}

TEST(Literal, IsTheNearestThatTheDtypeHas) {
  const TensorArgument numbers_given = values({5}, {2.9, -2.9, 300, -1e30, NAN});
  EXPECT_THAT(integers(made(numbers_given, c10::kByte)), ElementsAre(2, 0, 255, 0, 0));
  EXPECT_THAT(integers(made(numbers_given, c10::kChar)), ElementsAre(2, -2, 127, -128, 0));
  EXPECT_THAT(integers(made(numbers_given, c10::kBool)), ElementsAre(1, 1, 1, 1, 1));
  EXPECT_THAT(integers(made(numbers_given, c10::kBits8)), ElementsAre(2, 0, 255, 0, 0));
  EXPECT_EQ(made(values({2}, {1e30, -1e30}), c10::kLong).const_data_ptr<int64_t>()[0],
            std::numeric_limits<int64_t>::max());
}

TEST(Literal, BeginsAnewWhereADerivedCaseIsLargerAndIsCutWhereItIsSmaller) {
  const Domain domain = values({3}, {1, 2, 3}).domain;
  EXPECT_THAT(numbers(make_values(domain, 0, {7}, c10::kFloat)), ElementsAre(1, 2, 3, 1, 2, 3, 1));
  EXPECT_THAT(numbers(make_values(domain, 0, {2}, c10::kFloat)), ElementsAre(1, 2));
  EXPECT_EQ(make_values(domain, 0, {0, 3}, c10::kFloat).numel(), 0);
  EXPECT_THAT(numbers(make_values(values({0}, {}).domain, 0, {2}, c10::kFloat)), ElementsAre(0, 0));
}

TEST(Literal, HasAsManyNumbersAsItsShape) {
  EXPECT_EQ(message_of<SpecError>([] {
              values({2, 3}, {1, 2, 3, 4, 5});
            }),
            "values: 5 numbers are given for a shape of 6 elements");
}

TEST(Mixtures, HaveAtLeastOneSpecialValueInFourElementsAndOneInEightOfMany) {
  for (const auto& [argument, property] :
       {std::pair(nans({kMany}), &is_nan), std::pair(infinities({kMany}), &is_infinite)}) {
    for (uint64_t key = 0; key < 20; ++key) {
      const at::Tensor many = made(argument, c10::kFloat, key);
      EXPECT_EQ(count_of(many.slice(0, 0, 4), property), 1);
      EXPECT_NEAR(static_cast<double>(count_of(many, property)) / kMany, 0.125, 0.01);
    }
  }
}

TEST(Mixtures, AreOrdinaryOtherwise) {
  const std::vector<double> ordinary = numbers(made(uniform({kMany})));
  for (const TensorArgument& argument : mixtures({kMany})) {
    const std::vector<double> mixed = numbers(made(argument));
    int64_t others = 0;
    for (size_t i = 0; i < mixed.size(); ++i) others += mixed[i] == ordinary[i] ? 0 : 1;
    EXPECT_GT(others, kMany / 10) << argument.domain.family;
    EXPECT_LT(others, kMany / 7) << argument.domain.family;
  }
}

TEST(Mixtures, LeaveRowsWithoutASpecialValue) {
  const at::Tensor rows = made(nans({100, 8}));
  int64_t clean = 0;
  for (int64_t row = 0; row < 100; ++row) clean += count_of(rows[row], &is_nan) == 0 ? 1 : 0;
  EXPECT_GT(clean, 10);
}

// The numbers are from the definitions of the formats: IEEE 754, and the OCP and Graphcore papers on 8-bit
// formats.
struct Format {
  c10::ScalarType dtype;
  double largest;
  double smallest_normal;
  double smallest_subnormal;
  bool has_infinity;
  bool has_negative_zero;
};

const Format kFormats[] = {
    {c10::kHalf, 65504, 0x1p-14, 0x1p-24, true, true},
    {c10::kBFloat16, 0x1.FEp127, 0x1p-126, 0x1p-133, true, true},
    {c10::kFloat, 0x1.FFFFFEp127, 0x1p-126, 0x1p-149, true, true},
    {c10::kDouble, 0x1.FFFFFFFFFFFFFp1023, 0x1p-1022, 0x1p-1074, true, true},
    {c10::kComplexHalf, 65504, 0x1p-14, 0x1p-24, true, true},
    {c10::kComplexFloat, 0x1.FFFFFEp127, 0x1p-126, 0x1p-149, true, true},
    {c10::kComplexDouble, 0x1.FFFFFFFFFFFFFp1023, 0x1p-1022, 0x1p-1074, true, true},
    {c10::kFloat8_e5m2, 57344, 0x1p-14, 0x1p-16, true, true},
    {c10::kFloat8_e4m3fn, 448, 0x1p-6, 0x1p-9, false, true},
    {c10::kFloat8_e5m2fnuz, 57344, 0x1p-15, 0x1p-17, false, false},
    {c10::kFloat8_e4m3fnuz, 240, 0x1p-7, 0x1p-10, false, false},
};

TEST(Extremes, AreTheLargestTheLowestAndTheSmallestNormalNumber) {
  for (const Format& format : kFormats) {
    const at::Tensor tensor = made(extremes({kMany}), format.dtype);
    const std::vector<double> found = numbers(tensor);
    EXPECT_EQ(std::ranges::max(found), format.largest) << dtype_name(format.dtype);
    EXPECT_EQ(std::ranges::min(found), -format.largest) << dtype_name(format.dtype);
    EXPECT_TRUE(magnitudes(tensor).contains(format.smallest_normal)) << dtype_name(format.dtype);
  }
  const std::set<double> powers = magnitudes(made(extremes({kMany}), c10::kFloat8_e8m0fnu));
  EXPECT_EQ(*powers.begin(), 0x1p-127);
  EXPECT_EQ(*powers.rbegin(), 0x1p127);
  const std::vector<int64_t> bytes = integers(made(extremes({kMany}), c10::kChar));
  EXPECT_EQ(std::ranges::minmax(bytes).min, -128);
  EXPECT_EQ(std::ranges::minmax(bytes).max, 127);
}

TEST(Subnormals, AreTheSmallestAndTheLargestOfEitherSign) {
  for (const Format& format : kFormats) {
    const std::vector<double> found = numbers(made(subnormals({kMany}), format.dtype));
    const std::set<double> all(found.begin(), found.end());
    for (const double one : {format.smallest_subnormal, format.smallest_normal - format.smallest_subnormal}) {
      EXPECT_TRUE(all.contains(one)) << one << " of " << dtype_name(format.dtype);
      EXPECT_TRUE(all.contains(-one)) << -one << " of " << dtype_name(format.dtype);
    }
  }
}

TEST(SignedZeros, HaveBothSignsWhereTheDtypeHasThem) {
  for (const Format& format : kFormats) {
    const at::Tensor tensor = made(signed_zeros({kMany}), format.dtype);
    const auto is_zero = [](double number) { return number == 0; };
    const auto is_negative_zero = [](double number) { return number == 0 && std::signbit(number); };
    EXPECT_GT(count_of(tensor, is_zero), kMany / 10) << dtype_name(format.dtype);
    EXPECT_EQ(count_of(tensor, is_negative_zero) > 0, format.has_negative_zero) << dtype_name(format.dtype);
    EXPECT_EQ(count_of(tensor, is_nan), 0) << dtype_name(format.dtype);  // 0x80 is NaN in the fnuz formats
  }
}

// For numbers that are too large, torch 2.11 converts to float8_e4m3fn's NaN, and torch 2.15 to its largest
// number.
TEST(Literal, IsTheLargestNumberWhereAFormatWithoutInfinityEnds) {
  const TensorArgument ends = values({3}, {1e30, -INFINITY, NAN});
  for (const Format& format : kFormats) {
    if (format.has_infinity) continue;
    EXPECT_THAT(numbers(made(ends, format.dtype)),
                ElementsAre(format.largest, -format.largest, NanSensitiveDoubleEq(NAN)));
  }
}

TEST(Infinities, AreOrdinaryValuesWhereTheDtypeHasNone) {
  for (const Format& format : kFormats) {
    const at::Tensor tensor = made(infinities({kMany}), format.dtype);
    EXPECT_EQ(count_of(tensor, &is_infinite) > 0, format.has_infinity) << dtype_name(format.dtype);
    EXPECT_EQ(count_of(tensor, &is_nan), 0) << dtype_name(format.dtype);
    EXPECT_EQ(same_bits(tensor, made(uniform({kMany}), format.dtype)), !format.has_infinity);
  }
}

TEST(Nans, AreThoseThatAConversionMakes) {
  for (const Format& format : kFormats) {
    const at::Tensor tensor = made(nans({kMany}), format.dtype);
    EXPECT_GT(count_of(tensor, &is_nan), kMany / 10) << dtype_name(format.dtype);
    EXPECT_TRUE(same_bits(tensor, made(nans({kMany}), format.dtype).to(format.dtype)));
  }
  EXPECT_GT(count_of(made(nans({kMany}), c10::kFloat8_e8m0fnu), &is_nan), kMany / 10);
}

TEST(Mixtures, AreOrdinaryValuesInDtypesThatHaveNothingSpecial) {
  const auto plain = [](const TensorArgument& argument, c10::ScalarType dtype) {
    return same_bits(made(argument, dtype), made(uniform(argument.shape), dtype));
  };
  for (const TensorArgument& argument : mixtures({kMany})) {
    EXPECT_TRUE(plain(argument, c10::kFloat4_e2m1fn_x2)) << argument.domain.family;
    EXPECT_TRUE(plain(argument, c10::kBits16)) << argument.domain.family;
  }
  for (const c10::ScalarType dtype : {c10::kInt, c10::kByte, c10::kBool}) {
    EXPECT_TRUE(plain(nans({kMany}), dtype));
    EXPECT_TRUE(plain(infinities({kMany}), dtype));
    EXPECT_TRUE(plain(subnormals({kMany}), dtype));
  }
}

TEST(Special, HasEveryKind) {
  const at::Tensor tensor = made(special({kMany}));
  const std::vector<double> found = numbers(tensor);
  EXPECT_GT(count_of(tensor, &is_nan), 0);
  EXPECT_GT(count_of(tensor, &is_infinite), 0);
  EXPECT_GT(count_of(tensor, [](double number) { return number == 0 && has_sign_bit(number); }), 0);
  for (const double one : {0x1p-149, 0x1p-126, 0x1.FFFFFEp127, 0.0}) {
    EXPECT_TRUE(std::ranges::find(found, one) != found.end()) << one;
  }
}

}  // namespace
}  // namespace opgate::domains_test
