// grad.written: the gradient of an argument that is written is the reference's.
#include "inputs/tensor_slots.h"
#include "judging/check.h"
#include "judging/comparison/gradient_judgement.h"
#include "judging/comparison/output_judgement.h"

namespace opgate::grad_written {
namespace {

constexpr auto kPromised =
    "where an argument that is written requires grad, gradients are those of the reference, or the call "
    "raises";

// What is differentiated: every written argument where the operator returns nothing, "name(Tensor(a!) x) ->
// ()"; of ATen's operators in place the result that is the argument. None if results are others: what is
// written beside them is a buffer.
std::optional<DerivativeRequest> request_for(CallUnderTest& under_test) {
  const std::vector<at::Tensor> returned = under_test.observed().outcome.returned();
  if (returned.empty()) return DerivativeRequest{.written = true};
  for (const TensorInput& input : under_test.observed().arguments.tensors) {
    if (!is_mutable(*under_test.key().spec, input.position)) continue;
    for (size_t i = 0; i < returned.size(); ++i) {
      if (returned[i].is_same(input.tensor)) return DerivativeRequest{.output = i, .written = true};
    }
  }
  return std::nullopt;
}

Judgement judge(CallUnderTest& under_test) {
  if (auto refused = refused_sample(under_test)) return *std::move(refused);
  const std::optional<DerivativeRequest> request = request_for(under_test);
  if (!request) return Judgement::pass();
  const Derivative mine = derivative(under_test.key(), under_test.cache().values, *request);
  if (mine.call || mine.backward) return Judgement::pass();
  if (!mine.exists)
    return Judgement::fail({kPromised,
                            "the written argument does not require grad after the call, though it did before",
                            "the kernel writes below autograd; write a torch::autograd::Function that calls "
                            "mark_dirty, or refuse arguments that require grad"});
  Judgement judgement = judge_reference_gradients(under_test, *request, mine, kPromised);
  if (judgement.finding)
    judgement.finding->likely =
        "the argument keeps the history that it had before it was written: call mark_dirty in a "
        "torch::autograd::Function, and save what backward needs before it is overwritten";
  return judgement;
}

OPGATE_REGISTER_CHECK(grad_written, {.name = "grad.written",
                                     .scope = {.variants = Scope::Variants::contiguous,
                                               .dtypes = Scope::Dtypes::first,
                                               .first_sample = true,
                                               .promised = Promise::differentiable,
                                               .reference = true,
                                               .derivatives = true,
                                               .writes = true},
                                     .judge = &judge});

}  // namespace
}  // namespace opgate::grad_written
