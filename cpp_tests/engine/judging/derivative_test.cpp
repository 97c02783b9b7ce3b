// The derivative of a call: which inputs get a gradient for which cotangents (incoming gradients), in first
// and second order.
#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/forward_grad.h>

#include "derivatives/derivative.h"
#include "spec/spec.h"
#include "support.h"

namespace opgate::derivative_test {
namespace {

using ::testing::ElementsAre;
using testing::spec_of;

class DerivativeTest : public ::testing::Test {
 protected:
  // aten::mul is used, because its derivative by one factor is the other factor.
  Derivative of(const DerivativeRequest& request, const std::string& variant = "contiguous") {
    return derivative(key(variant), values_, request);
  }
  CallKey key(const std::string& variant = "contiguous") const {
    return {&mul_, &mul_.samples[0], c10::kFloat, c10::kCPU, variant};
  }
  std::vector<at::Tensor> factors(const std::string& variant = "contiguous") {
    std::vector<at::Tensor> tensors;
    for (const TensorInput& input : materialize(key(variant), values_).tensors)
      tensors.push_back(input.tensor);
    return tensors;
  }
  static std::vector<std::string> places(const Derivative& derivative) {
    std::vector<std::string> names;
    for (const LeafGradient& arrived : derivative.leaf_gradients) names.push_back(arrived.at);
    return names;
  }

  Spec mul_ = spec_of("aten::mul.Tensor", {{uniform({4, 6}), uniform({4, 6})}});
  ValueCache values_;
};

TEST_F(DerivativeTest, GivesEachFloatingInputItsGradient) {
  const Derivative found = of({});
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(places(found), ElementsAre("self", "other"));
  const std::vector<at::Tensor> factor = factors();
  EXPECT_TRUE(at::equal(found.leaf_gradients[0].gradient, found.cotangents[0] * factor[1]));
  EXPECT_TRUE(at::equal(found.leaf_gradients[1].gradient, found.cotangents[0] * factor[0]));
}

TEST_F(DerivativeTest, AsksOnlyThoseThatAreAskedFor) {
  EXPECT_THAT(places(of({.inputs = std::set<std::string>{"other"}})), ElementsAre("other"));
  EXPECT_THAT(differentiable_inputs(key(), values_), ElementsAre("self", "other"));
}

TEST_F(DerivativeTest, HasOneGradientForArgumentsThatAreOneTensor) {
  const Derivative found = of({}, "self+other=same");
  EXPECT_THAT(places(found), ElementsAre("self"));
  const at::Tensor factor = factors("self+other=same")[0];
  EXPECT_TRUE(at::equal(found.leaf_gradients[0].gradient, found.cotangents[0] * factor * 2));
  SpecWriter(mul_).reference([](const at::Tensor& a, const at::Tensor& b) { return a * b; });
  const Derivative reference = reference_derivative(key("self+other=same"), values_, {}, found);
  EXPECT_THAT(places(reference), ElementsAre("self"));
  EXPECT_EQ(reference.leaf_gradients[0].gradient.scalar_type(), c10::kDouble);
  EXPECT_TRUE(
      at::equal(reference.leaf_gradients[0].gradient.to(c10::kFloat), found.leaf_gradients[0].gradient));
}

TEST_F(DerivativeTest, LaysIncomingGradientsOutAndCopiesThem) {
  const Derivative expanded = of({.cotangent_layout = "expanded"});
  EXPECT_EQ(expanded.cotangents[0].stride(0) * expanded.cotangents[0].stride(1), 0);
  const Derivative dense = of({.cotangent_layout = "expanded", .dense = true});
  EXPECT_TRUE(dense.cotangents[0].is_contiguous());
  EXPECT_TRUE(at::equal(dense.cotangents[0], expanded.cotangents[0]));
  EXPECT_TRUE(of({.cotangent_layout = "no such layout"}).cotangents[0].is_contiguous());
}

TEST_F(DerivativeTest, DifferentiatesGradientsAgain) {
  const Derivative found = of({.order = Order::second});
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(places(found), ElementsAre("self", "other", "the gradient of output 0"));
  const std::vector<at::Tensor> factor = factors();
  const at::Tensor &u = found.second_cotangents[0], &v = found.second_cotangents[1];
  EXPECT_TRUE(at::equal(found.leaf_gradients[0].gradient, v * found.cotangents[0]));
  EXPECT_TRUE(at::equal(found.leaf_gradients[1].gradient, u * found.cotangents[0]));
  EXPECT_TRUE((found.leaf_gradients[2].gradient - (u * factor[1] + v * factor[0])).abs().max().item<float>() <
              1e-6);
}

TEST_F(DerivativeTest, PushesTangentsForward) {
  const Derivative found = of({.forward = true});
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(places(found), ElementsAre("output 0"));
  const std::vector<at::Tensor> factor = factors();
  const at::Tensor tangent = found.cotangents[0] * factor[1] + found.cotangents[1] * factor[0];
  EXPECT_LT((found.leaf_gradients[0].gradient - tangent).abs().max().item<float>(), 1e-6);
}

TEST_F(DerivativeTest, PushesTheSameTangentsThroughOtherLayoutsAndTheReference) {
  const Derivative dense = of({.forward = true});
  const Derivative stepped = of({.forward = true}, "self=stepped");
  EXPECT_TRUE(at::equal(dense.leaf_gradients[0].gradient, stepped.leaf_gradients[0].gradient));
  SpecWriter(mul_).reference([](const at::Tensor& a, const at::Tensor& b) { return a * b; });
  const Derivative reference = reference_derivative(key(), values_, {.forward = true}, dense);
  EXPECT_EQ(reference.leaf_gradients[0].gradient.scalar_type(), c10::kDouble);
  EXPECT_LT(
      (reference.leaf_gradients[0].gradient - dense.leaf_gradients[0].gradient).abs().max().item<double>(),
      1e-6);
}

TEST_F(DerivativeTest, GivesTangentsToThoseThatAreAskedFor) {
  const Derivative found = of({.inputs = std::set<std::string>{"other"}, .forward = true});
  ASSERT_EQ(found.cotangents.size(), 1);
  EXPECT_TRUE(at::equal(found.leaf_gradients[0].gradient, found.cotangents[0] * factors()[0]));
}

TEST_F(DerivativeTest, LeavesNoTangentsBehind) {
  of({.forward = true});
  EXPECT_EQ(torch::autograd::ForwardADLevel::try_get_by_idx(0), nullptr);
}

TEST_F(DerivativeTest, SaysThatThereIsNone) {
  const Spec isnan = spec_of("aten::isnan", {{uniform({4, 6})}});
  const Derivative found =
      derivative({&isnan, &isnan.samples[0], c10::kFloat, c10::kCPU, "contiguous"}, values_);
  EXPECT_FALSE(found.ok());
  EXPECT_FALSE(found.call.has_value());
}

TEST_F(DerivativeTest, KeepsWhatTheCallRaised) {
  const Spec refuses = spec_of("opgate_test::refuses_all", {{uniform({4, 6})}});
  const Derivative found =
      derivative({&refuses, &refuses.samples[0], c10::kFloat, c10::kCPU, "contiguous"}, values_);
  ASSERT_TRUE(found.call.has_value());
  EXPECT_EQ(found.call->message, "not today");
}

}  // namespace
}  // namespace opgate::derivative_test
