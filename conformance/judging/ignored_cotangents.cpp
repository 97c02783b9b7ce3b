#include "judging/ignored_cotangents.h"

#include <ATen/ops/equal.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace opgate {
namespace {

const at::Tensor& gradient_at(const Derivative& derivative, const std::string& input) {
  return std::ranges::find(derivative.leaf_gradients, input, &LeafGradient::at)->gradient;
}

}  // namespace

std::string ignored_cotangents(CallUnderTest& under_test, const DerivativeRequest& request,
                               const Derivative& mine, const std::string& input,
                               const RightGradientDiffers& differs) {
  std::vector<std::string> ignored;
  size_t with_effect = 0;
  for (size_t output = 0; output < mine.cotangents.size(); ++output) {
    if (!mine.cotangents[output].defined()) continue;
    DerivativeRequest negated = request;
    negated.negated = output;
    const Derivative other = derivative(under_test.key(), under_test.cache().values, negated);
    if (!other.ok()) continue;
    if (!at::equal(gradient_at(mine, input), gradient_at(other, input))) {
      ++with_effect;
    } else if (differs(other)) {
      ignored.push_back(fmt::format("output {}", output));
    }
  }
  if (with_effect == 0 || ignored.empty()) return "";
  return fmt::format(
      "the backward ignores the cotangent (incoming gradient) of {}: it has no effect on this gradient",
      fmt::join(ignored, " and "));
}

}  // namespace opgate
