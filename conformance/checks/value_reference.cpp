// value.reference: values equal a trusted reference within the promised ulps.
#include <fmt/format.h>

#include "checks/check.h"
#include "checks/outputs.h"

namespace opgate {
namespace {

Judgement judge(Evidence& evidence) {
  const Outcome& call = evidence.observed().outcome;
  const Outcome& reference = evidence.reference();
  if (auto refused = refused_sample(evidence)) return *std::move(refused);
  if (!reference.ok()) {
    // A derived size (empty, 0-dim) may mean nothing to an operator; then both must say so.
    if (!call.ok()) return Judgement::pass();
    return Judgement::invalid(
        fmt::format("the reference refuses what the operator takes: {}", reference.raised->message));
  }
  const std::string promised = "the values of the reference on the same input";
  if (!call.ok()) {
    return Judgement::fail({promised,
                            "raised: " + call.raised->message,
                            "this size is not handled; the reference takes it",
                            {}});
  }
  return judge_values(call.values(), reference.values(), *evidence.key().spec->accuracy, promised,
                      Rounding::to_output);
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
                     "fp16 (BEVDet 50)."},
     .worker = Worker::native,
     .scope = {.layouts = Scope::Layouts::plain},
     .judge = &judge});

}  // namespace
}  // namespace opgate
