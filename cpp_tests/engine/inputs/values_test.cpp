// The values that samples are made of: the counter generator, the domain "uniform", domains as text. The
// other domains are in domains_test.cpp.
#include <ATen/ops/view_as_real.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <opgate/error.h>
#include <opgate/sample.h>

#include <bit>
#include <cmath>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "base/dtypes.h"
#include "support.h"
#include "values/counter.h"
#include "values/domain.h"

namespace opgate::values_test {
namespace {

using ::testing::HasSubstr;
using testing::message_of;
using testing::same_bits;

constexpr int64_t kMany = 20000;

// SplitMix64 as published, with state. The engine computes it with random access, and must give the same
// sequence.
class SplitMix64 {
 public:
  explicit SplitMix64(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = (state_ += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
  }
  double next_unit() { return static_cast<double>(next() >> 11) / 9007199254740992.0; }

 private:
  uint64_t state_;
};

at::Tensor uniform_values(c10::ScalarType dtype, int64_t count, std::vector<double> range = {},
                          uint64_t key = 7) {
  return make_values({"uniform", std::move(range)}, key, {count}, dtype);
}

bool is_opaque(c10::ScalarType dtype) {
  return visit_dtype(dtype, []<class T>() { return Opaque<T>; });
}

// Every number in the tensor as a double, complex ones as two parts; the elements of opaque dtypes as
// integers.
std::vector<double> numbers(at::Tensor values) {
  if (values.is_complex()) values = at::view_as_real(values);
  if (values.scalar_type() == c10::kUInt64) values = values.view(c10::kLong);  // uint64 has no conversion
  if (is_opaque(values.scalar_type()))
    values = values.view(values.element_size() == 1 ? c10::kByte : c10::kUInt16);
  if (c10::isFloat8Type(values.scalar_type())) values = values.to(c10::kFloat);
  const at::Tensor wide = values.to(c10::kDouble).contiguous();
  return {wide.const_data_ptr<double>(), wide.const_data_ptr<double>() + wide.numel()};
}

TEST(Counter, GivesThePublishedVectorOfSplitMix64) {
  const std::vector<uint64_t> published{6457827717110365317u, 3203168211198807973u, 9817491932198370423u,
                                        4593380528125082431u, 16408922859458223821u};
  for (size_t i = 0; i < published.size(); ++i) EXPECT_EQ(bits_at(1234567, i), published[i]) << i;
}

TEST(Counter, NeedsNoValueBeforeTheOneAskedFor) {
  SplitMix64 sequence(42);
  std::vector<uint64_t> in_order;
  for (int i = 0; i < 1000; ++i) in_order.push_back(sequence.next());
  for (size_t i = in_order.size(); i-- > 0;) ASSERT_EQ(bits_at(42, i), in_order[i]) << i;
}

TEST(Counter, GivesEachNameAStreamOfItsOwn) {
  std::set<uint64_t> keys;
  for (const char* op : {"a::f", "a::g", "b::f"}) {
    for (const char* sample : {"2x3", "3x2", "23"}) {
      for (const char* argument : {"0", "1", "10"}) {
        keys.insert(stream_key(std::string(op) + "/" + sample + "/" + argument));
      }
    }
  }
  EXPECT_EQ(keys.size(), 27u);
  EXPECT_NE(stream_key(""), stream_key(std::string_view("\0", 1)));
  EXPECT_FALSE(same_bits(uniform_values(c10::kFloat, 100, {}, stream_key("x")),
                         uniform_values(c10::kFloat, 100, {}, stream_key("y"))));
}

class UniformOfEachDtype : public ::testing::TestWithParam<c10::ScalarType> {};

// The smallest and the largest number that the ordinary values of a dtype can have.
std::pair<double, double> ordinary_range(c10::ScalarType dtype) {
  if (is_opaque(dtype)) return {0, std::ldexp(1.0, static_cast<int>(8 * c10::elementSize(dtype))) - 1};
  if (dtype == c10::kBool) return {0, 1};
  if (dtype == c10::kFloat8_e8m0fnu) return {0, 1};  // it has no sign
  const bool is_unsigned = dtype == c10::kByte || c10::isBarebonesUnsignedType(dtype);
  if (is_unsigned) return {0, 100};
  return c10::isIntegralType(dtype, false) ? std::pair(-100.0, 100.0) : std::pair(-1.0, 1.0);
}

TEST_P(UniformOfEachDtype, StaysInItsRangeAndUsesAllOfIt) {
  const auto [low, high] = ordinary_range(GetParam());
  const std::vector<double> values = numbers(uniform_values(GetParam(), kMany));
  const auto [least, greatest] = std::ranges::minmax(values);
  EXPECT_GE(least, low);
  EXPECT_LE(greatest, high);  // rounding to a short format may reach the open end
  EXPECT_LE(least, low + 0.01 * (high - low));
  EXPECT_GE(greatest, high - 0.07 * (high - low));  // fp8's neighbour of 1 is 0.875
}

TEST_P(UniformOfEachDtype, GivesTheSameBitsInTwoCalls) {
  EXPECT_TRUE(same_bits(uniform_values(GetParam(), 1000), uniform_values(GetParam(), 1000)));
  EXPECT_FALSE(same_bits(uniform_values(GetParam(), 1000), uniform_values(GetParam(), 1000, {}, 8)));
}

TEST_P(UniformOfEachDtype, GivesElementIWhateverTheCount) {
  EXPECT_TRUE(same_bits(uniform_values(GetParam(), 1000).slice(0, 0, 17), uniform_values(GetParam(), 17)));
  const at::Tensor shaped = make_values({"uniform", {}}, 7, {5, 200}, GetParam());
  EXPECT_TRUE(same_bits(shaped.view({1000}), uniform_values(GetParam(), 1000)));
}

INSTANTIATE_TEST_SUITE_P(Every, UniformOfEachDtype, ::testing::ValuesIn(every_dtype()),
                         [](const auto& info) { return std::string(dtype_name(info.param)); });

TEST(Uniform, RoundsTheDoubleFormulaOnceToFloat) {
  SplitMix64 sequence(7);
  const at::Tensor floats = uniform_values(c10::kFloat, 1000);
  const at::Tensor doubles = uniform_values(c10::kDouble, 1000);
  for (int64_t i = 0; i < 1000; ++i) {
    const double formula = -1 + 2 * sequence.next_unit();
    ASSERT_EQ(doubles.const_data_ptr<double>()[i], formula) << i;
    ASSERT_EQ(floats.const_data_ptr<float>()[i], static_cast<float>(formula)) << i;
  }
}

TEST(Uniform, RoundsShortFormatsFromFloat) {
  const at::Tensor floats = uniform_values(c10::kFloat, kMany);
  for (const c10::ScalarType dtype : {c10::kHalf, c10::kBFloat16, c10::kFloat8_e4m3fn, c10::kFloat8_e5m2}) {
    EXPECT_TRUE(same_bits(uniform_values(dtype, kMany), floats.to(dtype))) << dtype_name(dtype);
  }
}

TEST(Uniform, TakesTwoCountersForAComplexNumber) {
  const at::Tensor parts =
      at::view_as_real(uniform_values(c10::kComplexFloat, 500)).contiguous().view({1000});
  EXPECT_TRUE(same_bits(parts, uniform_values(c10::kFloat, 1000)));
}

TEST(Uniform, TakesFloatsFromTheRangeThatIsGiven) {
  const std::vector<double> values = numbers(uniform_values(c10::kDouble, kMany, {2, 3}));
  const auto [least, greatest] = std::ranges::minmax(values);
  EXPECT_GE(least, 2);
  EXPECT_LT(greatest, 3);
  EXPECT_GT(greatest - least, 0.99);
}

TEST(Uniform, TakesIntegersFromCeilOfLowToFloorOfHigh) {
  const std::vector<double> values = numbers(uniform_values(c10::kInt, kMany, {-1.5, 2.5}));
  EXPECT_EQ(std::set<double>(values.begin(), values.end()), (std::set<double>{-1, 0, 1, 2}));
}

TEST(Uniform, KeepsUnsignedIntegersFromBelowZero) {
  const std::vector<double> values = numbers(uniform_values(c10::kByte, kMany, {-5, 5}));
  EXPECT_EQ(std::set<double>(values.begin(), values.end()), (std::set<double>{0, 1, 2, 3, 4, 5}));
}

// The range goes beyond the largest number of the dtype; values must not wrap around.
TEST(Uniform, KeepsIntegersWithinTheirDtypesLargest) {
  for (const double value : numbers(uniform_values(c10::kByte, 1000, {200, 1000}))) ASSERT_GE(value, 200);
}

// The values as bits, because NaN differs from itself and -0 equals 0 as numbers.
std::vector<uint64_t> bits_of(const Domain& domain) {
  std::vector<uint64_t> bits;
  for (const double parameter : domain.parameters) bits.push_back(std::bit_cast<uint64_t>(parameter));
  return bits;
}

TEST(DomainText, IsReadBackAsItWasWritten) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  for (const Domain& domain : {Domain{"uniform", {}},
                               {"uniform", {0, 1}},
                               {"uniform", {-0.1, 1e300}},
                               {"uniform", {1e-5, 0.30000000000000004}},
                               {"indices", {0x1p53}},
                               {"special", {}},
                               {"literal", {}},
                               {"literal", {kInfinity, -kInfinity, kNan, -kNan, 0.0, -0.0}},
                               {"literal", {5e-324, -1.7976931348623157e308, 1.0 / 3}}}) {
    const Domain read = domain_from_string(to_string(domain));
    EXPECT_EQ(read.family, domain.family) << to_string(domain);
    EXPECT_EQ(bits_of(read), bits_of(domain)) << to_string(domain);
  }
  EXPECT_EQ(to_string({"uniform", {}}), "uniform");
  EXPECT_EQ(to_string({"uniform", {0, 1}}), "uniform(0,1)");
  EXPECT_EQ(to_string({"literal", {1, -0.0, kNan, kInfinity}}), "literal(1,-0,nan,inf)");
}

TEST(DomainText, MayBeAsLongAsATensor) {
  std::vector<double> numbers;
  for (int i = 0; i < 200000; ++i) numbers.push_back(i / 7.0);
  const Domain domain{"literal", std::move(numbers)};
  EXPECT_EQ(domain_from_string(to_string(domain)), domain);
}

TEST(DomainText, NamesWhatItDoesNotUnderstand) {
  const auto refusal = [](const std::string& text) {
    return message_of<SpecError>([&] { domain_from_string(text); });
  };
  EXPECT_THAT(refusal("normal"), HasSubstr("no value domain is named 'normal'"));
  EXPECT_THAT(refusal(""), HasSubstr("'' is not a value domain"));
  EXPECT_THAT(refusal("uniform(a,1)"), HasSubstr("'a' is not a number"));
  EXPECT_THAT(refusal("literal(1,,2)"), HasSubstr("'' is not a number"));
  EXPECT_THAT(refusal("literal(1,2,)"), HasSubstr("'' is not a number"));
  EXPECT_THAT(refusal("literal( 1)"), HasSubstr("' 1' is not a number"));
  EXPECT_THAT(refusal("literal(1e400)"), HasSubstr("'1e400' is not a number"));
  EXPECT_THAT(refusal("indices"), HasSubstr("takes 1 parameters"));
  EXPECT_THAT(message_of<SpecError>([] {
                make_values({"normal", {}}, 1, {2}, c10::kFloat);
              }),
              HasSubstr("no value domain is named 'normal'"));
}

TEST(DomainText, IsRefusedWhereItIsCutOffOrGoesOn) {
  for (const char* text : {"uniform(0,1", "uniform(0,1)x", "uniform(3)", "uniform(0,1,2)", "uniform(0 1)",
                           "uniform()", "uni-form", "uniform)"}) {
    EXPECT_THAT(message_of<SpecError>([&] { domain_from_string(text); }), HasSubstr(text)) << text;
  }
}

}  // namespace
}  // namespace opgate::values_test
