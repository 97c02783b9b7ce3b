// value.empty: inputs without elements or without dims give the right shape and do not crash.
#include <algorithm>

#include "base/text.h"
#include "inputs/tensor_slots.h"
#include "judging/check.h"
#include "judging/output_judgement.h"

namespace opgate::value_empty {
namespace {

bool has_empty_or_0_dim_tensor(const Spec& spec, const Sample& sample) {
  return std::ranges::any_of(tensor_slots(spec, sample), [](const TensorSlot& slot) {
    const Shape& shape = slot.described->shape;
    return shape.empty() || std::ranges::find(shape, 0) != shape.end();
  });
}

// The spec says of another empty or 0-dim sample that the operator rejects it with these words.
bool is_promised_rejection(const Spec& spec, const std::string& message) {
  return std::ranges::any_of(spec.rejections, [&](const Rejection& rejection) {
    return has_empty_or_0_dim_tensor(spec, rejection.sample) && !rejection.because.empty() &&
           contains_ignoring_case(message, rejection.because);
  });
}

Judgement judge(CallUnderTest& under_test) {
  const Outcome& call = under_test.observed().outcome;
  if (!call.ok() && is_promised_rejection(*under_test.key().spec, call.raised->message))
    return Judgement::pass();
  return judge_against_reference(under_test);
}

OPGATE_REGISTER_CHECK(
    value_empty,
    {.name = "value.empty",
     .explanation =
         {.promise = "Inputs that are empty along any dim, and 0-dim inputs, give what the reference gives.",
          .why = "A batch may be empty, and a mask may select nothing: sizes of 0 reach every operator in "
                 "production. A CUDA launch of 0 blocks is an error, an integer division by a size of 0 is a "
                 "crash, and an early return often forgets the dims that are not empty.",
          .fix = "Allocate the output first, with its full shape, then return it if there is "
                 "nothing to do. A reduction over nothing has a value all the same: zero for a "
                 "sum, NaN for a mean.",
          .example = "FBGEMM 3705, apex 403: kernels that fail for a batch of 0.",
          .wrong = R"(at::Tensor product(const at::Tensor& x, const at::Tensor& y) {
  if (x.numel() == 0 || y.numel() == 0) return at::empty({0}, x.options());  // another shape
  at::Tensor out = at::empty({x.size(0), y.size(1)}, x.options());
  multiply(x, y, out);
  return out;
})",
          .right = R"(at::Tensor product(const at::Tensor& x, const at::Tensor& y) {
  at::Tensor out = at::zeros({x.size(0), y.size(1)}, x.options());  // m x 0 by 0 x n: m x n zeros
  if (x.numel() == 0 || y.numel() == 0) return out;
  multiply(x, y, out);
  return out;
})"},
     .worker = Worker::native,
     .scope = {.variants = Scope::Variants::resized, .reference = true},
     .judge = &judge});

}  // namespace
}  // namespace opgate::value_empty
