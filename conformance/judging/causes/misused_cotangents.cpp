#include "judging/causes/misused_cotangents.h"

#include <ATen/ops/equal.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "compare/widen.h"

namespace opgate {
namespace {

// A gradient that is this small beside the wrong one is taken for zero, whose factors may all be wrong.
constexpr double kOfWrongGradient = 1e-3;

double magnitude_at(const Derivative& derivative, const std::string& input) {
  return largest_magnitude(gradient_at(derivative, input)).item<double>();
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

std::string cotangents_taken_for_alike(CallUnderTest& under_test, const DerivativeRequest& request,
                                       const Derivative& mine, const std::string& input,
                                       const IsRightGradient& is_right) {
  struct Alike {
    const char* layout;
    const char* where;
  };
  const double size = magnitude_at(mine, input);
  for (const auto& [layout, where] :
       {Alike{"expanded", "all rows of the incoming gradient are alike"},
        Alike{"expanded-last", "the incoming gradient is the same all along its last dim"},
        Alike{"expanded-all", "all elements of the incoming gradient are alike, as .sum() passes it"}}) {
    DerivativeRequest alike = request;
    alike.cotangent_layout = layout;
    alike.dense = true;
    const Derivative other = derivative(under_test.key(), under_test.cache().values, alike);
    if (!other.ok() || magnitude_at(other, input) <= kOfWrongGradient * size || !is_right(other)) continue;
    return fmt::format(
        "the gradient is right where {}, and wrong otherwise: the backward uses one of them, or their mean "
        "or sum, in place of each one's own",
        where);
  }
  return "";
}

}  // namespace opgate
