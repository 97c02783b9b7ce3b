// grad.saved: a tensor that is changed in place after the call does not change the gradients silently.
#include <fmt/format.h>

#include "inputs/tensor_slots.h"
#include "judging/check.h"
#include "judging/comparison/gradient_judgement.h"
#include "judging/comparison/output_judgement.h"

namespace opgate::grad_saved {
namespace {

constexpr auto kPromised =
    "where an argument or a result is changed in place after the call, backward raises or gives the "
    "gradients of the call as it was";

// The arguments and results that a caller may change, as DerivativeRequest names them.
std::vector<std::string> changeable(CallUnderTest& under_test) {
  const Observation& call = under_test.observed();
  std::vector<std::string> names;
  for (const TensorInput& input : call.arguments.tensors) {
    if (!is_mutable(*under_test.key().spec, input.position) && input.geometry.numel() > 0)
      names.push_back(input.name);
  }
  const std::vector<at::Tensor> returned = call.outcome.returned();
  for (size_t i = 0; i < returned.size(); ++i) {
    if (returned[i].defined() && returned[i].numel() > 0) names.push_back(fmt::format("output {}", i));
  }
  return names;
}

Judgement judge(CallUnderTest& under_test) {
  if (auto refused = refused_sample(under_test)) return *std::move(refused);
  const Differentiated whole = differentiated(under_test, {}, kPromised);
  if (whole.none) return *whole.none;
  const GradientTolerance allowed = gradient_tolerance(under_test, whole.derivative);
  for (const std::string& name : changeable(under_test)) {
    const Derivative got =
        derivative(under_test.key(), under_test.cache().values, DerivativeRequest{.overwritten = name});
    if (!got.ok()) continue;  // autograd saw the change, and raised
    const auto when = fmt::format("where `{}` is changed after the call", name);
    Judgement judgement =
        judge_gradients(got, whole.derivative, *under_test.key().spec, allowed, kPromised, when);
    if (!judgement.finding) continue;
    judgement.finding->likely =
        "the tensor is kept where autograd does not see that it changes: in saved_data, in a member, in a "
        "lambda, or as an attribute of ctx; save_for_backward keeps its version, too";
    return judgement;
  }
  return Judgement::pass();
}

OPGATE_REGISTER_CHECK(grad_saved, {.name = "grad.saved",
                                   .scope = {.variants = Scope::Variants::contiguous,
                                             .dtypes = Scope::Dtypes::first,
                                             .promised = Promise::differentiable,
                                             .derivatives = true},
                                   .judge = &judge});

}  // namespace
}  // namespace opgate::grad_saved
