#include "judging/comparison/perturbed_reference.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Functions.h>

#include <optional>

#include "call/stochastic_rounding.h"
#include "compare/float_format.h"
#include "compare/widen.h"

namespace opgate {
namespace {

bool has_nans(const at::Tensor& tensor) {
  return tensor.defined() && float_format(tensor.scalar_type()).has_value();
}

}  // namespace

Outcome moved_reference(CallUnderTest& under_test, const MaterializeOptions& options, uint64_t seed,
                        double move) {
  at::Generator generator = at::detail::createCPUGenerator(seed);
  return under_test.changed_reference(options, [&](torch::jit::Stack& stack) {
    for (c10::IValue& value : stack) {
      value = with_numbers(value, [&](const at::Tensor& tensor) {
        const at::Tensor draw = at::rand(tensor.sizes(), generator, tensor.options().dtype(c10::kDouble));
        return tensor * (1 + draw.mul_(2).sub_(1).mul_(move));
      });
    }
  });
}

c10::ScalarType dtype_of_rounding(const CallKey& key) {
  const auto format = float_format(key.dtype);
  return format && format->precision < float_format(c10::kFloat)->precision ? key.dtype : c10::kFloat;
}

Outcome rounded_reference(CallUnderTest& under_test, const MaterializeOptions& options, uint64_t seed) {
  std::optional<StochasticRounding> rounding;  // of the reference, and not of what makes its arguments
  return under_test.changed_reference(
      options, [&](torch::jit::Stack&) { rounding.emplace(dtype_of_rounding(under_test.key()), seed); });
}

std::vector<at::Tensor> values_with_settled_nans(CallUnderTest& under_test, const Outcome& call) {
  constexpr uint64_t kDraws = 6;
  const double rounding = ulp_at(1, *float_format(dtype_of_rounding(under_test.key())));
  const std::vector<at::Tensor> expected = expected_values(under_test.reference(), call);
  std::vector<at::Tensor> values = call.values();
  if (values.size() != expected.size()) return values;
  for (uint64_t seed = 0; seed < kDraws; ++seed) {
    for (const Outcome& other :
         {moved_reference(under_test, {}, seed, 2 * rounding), rounded_reference(under_test, {}, seed)}) {
      const std::vector<at::Tensor> theirs = expected_values(other, call);
      for (size_t i = 0; i < values.size() && i < theirs.size(); ++i) {
        at::Tensor& mine = values[i];
        if (!has_nans(mine) || theirs[i].sizes() != mine.sizes() || expected[i].sizes() != mine.sizes())
          continue;
        const at::Tensor unsettled = theirs[i].isfinite().ne(expected[i].isfinite()).to(mine.device());
        mine = at::where(unsettled, expected[i].to(mine.device(), mine.scalar_type()), mine);
      }
    }
  }
  return values;
}

}  // namespace opgate
