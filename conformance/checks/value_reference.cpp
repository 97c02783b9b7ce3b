// value.reference: values equal a trusted reference within the promised ulps.
#include "judging/check.h"
#include "judging/fault.h"
#include "judging/output_judgement.h"

namespace opgate::value_reference {
namespace {

Judgement judge(CallUnderTest& under_test) {
  Judgement judgement = judge_against_reference(under_test);
  if (judgement.finding) judgement.finding->fault.kind = fault::kValues;
  return judgement;
}

OPGATE_REGISTER_CHECK(
    value_reference,
    {.name = "value.reference",
     .explanation =
         {.promise = "Values equal a trusted reference, computed in a wider dtype, within the promised ulps.",
          .why = "Everything downstream assumes that the kernel computes what its name says, in every dtype "
                 "it accepts. A kernel that accumulates in half precision, or is right up to batch 32, is "
                 "found only by its values.",
          .fix = "Start from the first bad element: its index tells which loop bound, thread or accumulator "
                 "is wrong. Accumulate half types in float. Where an error is inherent, promise the ulps it "
                 "needs and say why.",
          .example = "torchvision's deform_conv2d for batches over 32 (vision 2027); BEVDet's pooling in "
                     "fp16 (BEVDet 50).",
          .wrong = R"(for (int64_t row = 0; row < x.size(0); ++row) {
  scalar_t sum = 0;  // rounded at each step: a sum of ones in Half stops at 2048
  for (int64_t i = 0; i < x.size(1); ++i) sum += from[row][i];
  to[row] = sum;
})",
          .right = R"(for (int64_t row = 0; row < x.size(0); ++row) {
  at::opmath_type<scalar_t> sum = 0;  // float for Half and BFloat16
  for (int64_t i = 0; i < x.size(1); ++i) sum += from[row][i];
  to[row] = static_cast<scalar_t>(sum);
})"},
     .worker = Worker::native,
     .scope = {.variants = Scope::Variants::contiguous, .reference = true},
     .judge = &judge});

}  // namespace
}  // namespace opgate::value_reference
