// Samples made larger: which sizes are multiplied, how far, and for which samples there is none.
#include "inputs/larger_samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support.h"

#include "spec/spec.h"

namespace opgate::larger_samples_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::spec_of;

// The shapes of the tensors of each larger sample.
std::vector<std::vector<Shape>> larger(std::vector<Argument> arguments, int64_t elements) {
  const Spec spec = spec_of("aten::add.Tensor", {std::move(arguments)});
  std::vector<std::vector<Shape>> shapes;
  for (const Sample& sample : larger_samples(spec, spec.samples[0], elements)) {
    std::vector<Shape>& of_sample = shapes.emplace_back();
    for (const Argument& argument : sample.arguments) {
      if (argument.tensor() != nullptr) of_sample.push_back(argument.tensor()->shape);
    }
  }
  return shapes;
}

TEST(LargerSamples, MultiplyAllSizesAlikeAndThenEachAlone) {
  EXPECT_THAT(larger({uniform({4, 6}), uniform({6})}, 1000),
              ElementsAre(ElementsAre(Shape{16, 24}, Shape{24}), ElementsAre(Shape{128, 6}, Shape{6}),
                          ElementsAre(Shape{4, 192}, Shape{192})));
}

TEST(LargerSamples, LeaveSizesOfOne) {
  EXPECT_THAT(larger({uniform({1, 6}), uniform({1})}, 100), ElementsAre(ElementsAre(Shape{1, 96}, Shape{1})));
}

TEST(LargerSamples, AreNoneWhereNoFactorMakesThemLarger) {
  EXPECT_THAT(larger({uniform({0, 3, 3}), uniform({3})}, 1), IsEmpty());
  EXPECT_THAT(larger({uniform({0, 3, 3}), uniform({0})}, 1000), IsEmpty()) << "there are no elements";
  EXPECT_THAT(larger({uniform({}), uniform({1})}, 1000), IsEmpty());
  EXPECT_THAT(larger({uniform({40}), uniform({40})}, 100), IsEmpty()) << "it is as large already";
}

TEST(LargerSamples, AreNoneWhereValuesFitOneSizeOnly) {
  EXPECT_THAT(larger({uniform({4}), permutation({4})}, 1000), IsEmpty());
  Spec spec = spec_of("aten::add.Tensor", {{uniform({4}), uniform({4})}});
  spec.trusted.insert("other");
  EXPECT_THAT(larger_samples(spec, spec.samples[0], 1000), IsEmpty());
}

// The sizes that one size of a recorded tensor with these numbers becomes.
std::vector<Shape> resized(std::vector<double> numbers, c10::ScalarType dtype, bool draft = true) {
  const auto count = static_cast<int64_t>(numbers.size());
  Spec spec = spec_of("aten::neg", {{values({count}, std::move(numbers)).of(dtype)}});
  spec.draft = draft;
  std::vector<Shape> shapes;
  for (const auto& [present, sample] : samples_with_size(spec, spec.samples[0], 1025, 1 << 18))
    shapes.push_back(sample.arguments[0].tensor()->shape);
  return shapes;
}

TEST(SamplesWithSize, RepeatRecordedNumbersThatAreValuesAlone) {
  EXPECT_THAT(resized({0.5, -2.25, 0, 1.75}, c10::kFloat), ElementsAre(Shape{1025}));
  EXPECT_THAT(resized({1, 1, 1}, c10::kFloat), ElementsAre(Shape{1025})) << "a weight of ones";
  EXPECT_THAT(resized({0, 0.25, 1e-3}, c10::kHalf), ElementsAre(Shape{1025})) << "probabilities";
  Spec spec = spec_of("aten::neg", {{values({2}, {0.5, -2.25})}}, {c10::kFloat});
  spec.draft = true;
  EXPECT_EQ(samples_with_size(spec, spec.samples[0], 1025, 1 << 18).size(), 1u) << "of the dtype of the case";
  spec.dtypes[c10::kCPU] = {c10::kFloat, c10::kLong};
  EXPECT_TRUE(samples_with_size(spec, spec.samples[0], 1025, 1 << 18).empty());
}

TEST(SamplesWithSize, KeepNumbersThatMayFitOneSizeOnly) {
  EXPECT_THAT(resized({0, 1.5, 2.5, 1, 3.5}, c10::kFloat), IsEmpty()) << "boxes with the index of a batch";
  EXPECT_THAT(resized({1.5, 2.25, 7.5}, c10::kFloat), IsEmpty()) << "coordinates";
  EXPECT_THAT(resized({0, 3, 5}, c10::kLong), IsEmpty());
  EXPECT_THAT(resized({0.5, -2.25}, c10::kFloat, /*draft=*/false), IsEmpty()) << "a spec's own numbers";
}

}  // namespace
}  // namespace opgate::larger_samples_test
