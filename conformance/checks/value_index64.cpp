// value.index64: elements that lie beyond 2^31 elements of a storage are reached.
#include <fmt/format.h>

#include "judging/check.h"
#include "judging/output_judgement.h"
#include "judging/refused_layout.h"
#include "memory/far_storage.h"

namespace opgate::value_index64 {
namespace {

struct Far {
  std::string_view how;
  Geometry (*geometry)(c10::IntArrayRef sizes);
};

constexpr std::array<Far, 2> kFar{Far{"a stride", &far_strided}, Far{"a storage offset", &far_offset}};

Judgement judge(CallUnderTest& under_test) {
  if (auto refused = refused_sample(under_test)) return *std::move(refused);
  const CallKey& key = under_test.key();
  const size_t tensors = tensor_slots(*key.spec, *key.sample).size();
  Judgement note = Judgement::pass();  // unless an input is refused in words
  for (size_t i = 0; i < tensors; ++i) {
    for (const Far& far : kFar) {
      Arguments arguments = materialize(key, under_test.cache().values, {.take_snapshots = false});
      const TensorInput& input = arguments.tensors[i];
      if (input.tensor.numel() == 0) continue;
      const at::Tensor tensor = far_tensor(far.geometry(input.geometry.sizes), input.tensor.scalar_type());
      tensor.copy_(input.tensor);
      arguments.replace(input, tensor);
      const Outcome call = call_on(key, arguments.stack);
      const std::string promised = fmt::format(
          "the same result where the elements of `{}` lie beyond 2^31 elements of its storage, because of {}",
          input.name, far.how);
      if (!call.ok()) {
        if (key.spec->wants_contiguous.contains(argument_name(*key.spec, input.position))) continue;
        if (auto refused = note_of_refused_layout(*key.spec, call.raised->message)) {
          note = *std::move(refused);
          continue;
        }
        return Judgement::fail({promised, "raised: " + call.raised->message, "", {}});
      }
      Judgement judgement = judge_same(under_test, call, under_test.observed().outcome,
                                       key.spec->same_bits_in_any_layout(), promised);
      if (!judgement.finding) continue;
      judgement.finding->likely =
          "an offset is computed in 32 bits (use int64_t, or let TensorIterator split), or strides are "
          "ignored altogether, and then value.layout fails too";
      return judgement;
    }
  }
  return note;
}

OPGATE_REGISTER_CHECK(
    value_index64,
    {.name = "value.index64",
     .explanation = {.promise = "Elements beyond 2^31 elements of a storage are read and written right.",
                     .why = "A slice of a large tensor has large strides and offsets although it has few "
                            "elements. An index in 32 bits wraps around and reads somewhere else, or faults. "
                            "The check reserves this memory and does not use it, so it costs nothing.",
                     .fix = "Compute offsets in int64_t: `int64_t{row} * stride`, not `row * stride` with "
                            "int operands; the product of blockIdx.x and blockDim.x too.",
                     .example = "flash-attention 1500, sglang 29608: int32 products of a row and a stride."},
     .worker = Worker::native,
     .scope = {.variants = Scope::Variants::contiguous,
               .dtypes = Scope::Dtypes::first,
               .first_sample = true,
               .device = c10::kCPU},
     .judge = &judge});

}  // namespace
}  // namespace opgate::value_index64
