// The variants of a sample, and how their arguments are made, with several tensors, lists and optional
// tensors.
#include "inputs/variant.h"

#include <ATen/ops/cat.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inputs/arguments.h"
#include "spec/spec.h"
#include "support.h"

namespace opgate::variant_test {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;
using testing::same_bits;
using testing::spec_of;

std::vector<std::string> texts(const Spec& spec, Variant::Kind kind) {
  std::vector<std::string> found;
  for (const Variant& variant : variants(spec, spec.samples.front())) {
    if (variant.kind == kind) found.push_back(variant.text);
  }
  return found;
}

Arguments made(const Spec& spec, const std::string& variant, const MaterializeOptions& options = {}) {
  ValueCache cache;
  return materialize({&spec, &spec.samples.front(), c10::kFloat, c10::kCPU, variant}, cache, options);
}

const Spec& add() {
  static const Spec spec = spec_of("aten::add.Tensor", {{uniform({4, 8}), uniform({4, 8})}});
  return spec;
}

const Spec& cat() {
  static const Spec spec =
      spec_of("aten::cat", {{std::vector<TensorArgument>{uniform({2, 3}), uniform({4, 3})}, 0}});
  return spec;
}

TEST(Variants, LayOutEachTensorAloneAndAllTogether) {
  EXPECT_THAT(texts(add(), Variant::Kind::rearranged),
              IsSupersetOf({"self=stepped", "other=stepped", "all=stepped", "all=expanded",
                            "self+other=together", "self+other=same"}));
}

TEST(Variants, LayOutEachElementOfAList) {
  const std::vector<std::string> found = texts(cat(), Variant::Kind::rearranged);
  EXPECT_THAT(found, IsSupersetOf({"tensors[0]=stepped", "tensors[1]=transposed", "all=row-sliced",
                                   "tensors[0]+tensors[1]=together"}));
  EXPECT_THAT(found, Each(Not(HasSubstr("=same")))) << "they have other shapes";
}

TEST(Variants, EmptyEverySizeAlikeWhereThereAreSeveralTensors) {
  EXPECT_THAT(texts(cat(), Variant::Kind::resized), ::testing::ElementsAre("size2=0", "size3=0", "size4=0"));
}

TEST(Variants, KeepMutableTensorsApartFromOthersAndFromThemselves) {
  const Spec spec = spec_of("aten::add_.Tensor", {{uniform({4, 8}), uniform({4, 8})}});
  const std::vector<std::string> found = texts(spec, Variant::Kind::rearranged);
  EXPECT_THAT(found, Not(Contains("self=expanded")));
  EXPECT_THAT(found, Contains("other=expanded"));
  EXPECT_THAT(found, Not(Contains("self+other=same")));
  EXPECT_THAT(found, Contains("self+other=together"));
  EXPECT_THAT(found, Each(Not(HasSubstr("negated"))));
}

TEST(Variants, OfAllArgumentsLeaveThoseAsTheyAreThatTheyDoNotSuit) {
  const Spec spec =
      spec_of("aten::where.self", {{uniform({4, 8}).of(c10::kBool), uniform({4, 8}), uniform({4, 8})}});
  EXPECT_THAT(texts(spec, Variant::Kind::rearranged), Contains("all=negated"));
  const Arguments arguments = made(spec, "all=negated");
  EXPECT_FALSE(arguments.tensors[0].tensor.is_neg());
  EXPECT_TRUE(arguments.tensors[1].tensor.is_neg());
  EXPECT_TRUE(arguments.tensors[2].tensor.is_neg());
}

TEST(Variants, OfAllArgumentsNeedTwoThatTheySuit) {
  const Spec spec = spec_of("aten::masked_select", {{uniform({4, 8}), uniform({4, 8}).of(c10::kBool)}});
  EXPECT_THAT(texts(spec, Variant::Kind::rearranged), Not(Contains("all=negated")));
}

TEST(Variants, ExpandNoValuesThatMeanSomethingOnlyTogether) {
  const auto expanded = [](TensorArgument boundaries) {
    const Spec spec = spec_of("aten::bucketize.Tensor", {{uniform({4, 5}), std::move(boundaries)}});
    EXPECT_THAT(texts(spec, Variant::Kind::rearranged), Contains("all=stepped"));
    return texts(spec, Variant::Kind::rearranged);
  };
  EXPECT_THAT(expanded(sorted_indices({5}, 9)), IsSupersetOf({"boundaries=expanded", "all=expanded"}));
  for (const TensorArgument& boundaries : {offsets(5, 9), permutation(5)})
    EXPECT_THAT(expanded(boundaries), Not(Contains(HasSubstr("boundaries=expanded"))));
}

TEST(Variants, LeaveTrustedIndicesWhereTheirTargetWouldBeEmpty) {
  Spec spec = spec_of("aten::index_select", {{uniform({5, 3}), 0, uniform({4}, 0, 4).of(c10::kLong)}});
  EXPECT_THAT(texts(spec, Variant::Kind::resized), Contains("size5=0"));
  spec.trusted.insert("index");
  EXPECT_THAT(texts(spec, Variant::Kind::resized), Not(Contains("size5=0")));
  EXPECT_THAT(texts(spec, Variant::Kind::resized), Contains("size4=0"));
}

TEST(Variants, GiveARejectionNothingButItself) {
  Spec spec = add();
  spec.rejections.push_back({{"too long", {uniform({4, 8}), uniform({4, 9})}, ""}, "size"});
  const std::vector<Variant> found = variants(spec, spec.rejections.front().sample);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, Variant::Kind::bad);
}

TEST(Variants, SayInWordsWhatTheyAre) {
  EXPECT_EQ(describe_variant("contiguous"), "every argument is contiguous");
  EXPECT_EQ(describe_variant("x=stepped"), "`x` is stepped");
  EXPECT_EQ(describe_variant("all=offset"), "every argument is offset");
  EXPECT_EQ(describe_variant("x+y=together"), "`x` and `y` lie in one storage");
  EXPECT_EQ(describe_variant("x+y=same"), "`x` and `y` are the same tensor");
  EXPECT_EQ(describe_variant("size8=0"), "every dim of size 8 is empty");
  EXPECT_EQ(varied_argument("x=stepped"), "x");
  EXPECT_EQ(varied_argument("all=stepped"), "");
  EXPECT_EQ(varied_argument("size8=0"), "");
}

TEST(Arrangement, PutsTwoTensorsIntoOneStorageOneAfterTheOther) {
  const Arguments arguments = made(add(), "self+other=together");
  const at::Tensor& self = arguments.tensors[0].tensor;
  const at::Tensor& other = arguments.tensors[1].tensor;
  EXPECT_EQ(self.storage().data(), other.storage().data());
  EXPECT_EQ(self.storage_offset(), 0);
  EXPECT_EQ(other.storage_offset(), 32);
  EXPECT_EQ(self.storage().nbytes(), 64 * sizeof(float));
  const Arguments plain = made(add(), "contiguous");
  EXPECT_TRUE(same_bits(self, plain.tensors[0].tensor));
  EXPECT_TRUE(same_bits(other, plain.tensors[1].tensor));
}

TEST(Arrangement, GivesTheSameTensorTwice) {
  const Arguments arguments = made(add(), "self+other=same");
  EXPECT_TRUE(arguments.stack[0].toTensor().is_same(arguments.stack[1].toTensor()));
  const Arguments apart = made(add(), "self+other=same", {.contiguous = true});
  EXPECT_FALSE(apart.stack[0].toTensor().is_alias_of(apart.stack[1].toTensor()));
  EXPECT_TRUE(same_bits(apart.stack[1].toTensor(), arguments.stack[0].toTensor()))
      << "the same values all the same";
}

TEST(Arrangement, FillsListsWithTheirElements) {
  const Arguments arguments = made(cat(), "tensors[1]=stepped");
  const std::vector<at::Tensor> list = arguments.stack[0].toTensorVector();
  ASSERT_EQ(list.size(), 2u);
  EXPECT_TRUE(list[0].is_contiguous());
  EXPECT_EQ(list[1].strides(), (std::vector<int64_t>{6, 2}));
  EXPECT_EQ(arguments.tensors[1].name, "tensors[1]");
}

TEST(Arrangement, MakesOtherValuesOfTheSameDomainWhenAsked) {
  const at::Tensor first = made(add(), "contiguous").tensors[0].tensor;
  const at::Tensor other = made(add(), "contiguous", {.value_seed = 1}).tensors[0].tensor;
  EXPECT_FALSE(same_bits(first, other));
  EXPECT_TRUE(same_bits(other, made(add(), "contiguous", {.value_seed = 1}).tensors[0].tensor));
}

TEST(Arrangement, SeedsAGeneratorAnewForEachCall) {
  const Spec spec = spec_of("aten::bernoulli.p", {{uniform({64}), 0.5, generator(7)}});
  const auto drawn = [&] {
    torch::jit::Stack stack = made(spec, "contiguous").stack;
    spec.op->callBoxed(stack);
    return stack[0].toTensor();
  };
  EXPECT_TRUE(same_bits(drawn(), drawn()));
}

TEST(Arrangement, LeavesOutAnOptionalTensor) {
  const Spec spec =
      spec_of("aten::layer_norm", {{uniform({4, 8}), std::vector<int64_t>{8}, none, uniform({8})}});
  const Arguments arguments = made(spec, "bias=stepped");
  EXPECT_TRUE(arguments.stack[2].isNone());
  EXPECT_EQ(arguments.tensors.back().tensor.strides(), (std::vector<int64_t>{2}));
}

}  // namespace
}  // namespace opgate::variant_test
