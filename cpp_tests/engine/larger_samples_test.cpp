// Samples made larger: which sizes are multiplied, how far, and for which samples there is none.
#include "inputs/larger_samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support.h"

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

}  // namespace
}  // namespace opgate::larger_samples_test
