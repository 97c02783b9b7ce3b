#include "judging/calls/converted_call.h"

#include "memory/guard_allocator.h"

namespace opgate {

std::optional<ConvertedCall> converted_call(CallUnderTest& under_test, c10::ScalarType of,
                                            const std::function<at::Tensor(const at::Tensor&)>& convert) {
  const CallKey& key = under_test.key();
  const GuardScope scope(kFirstPoison, Place::far_apart);
  const uint64_t first = guard::next_serial();
  Arguments arguments =
      materialize(key, under_test.cache().values, {.contiguous = true, .take_snapshots = false});
  for (TensorInput& input : arguments.tensors) {
    if (input.tensor.scalar_type() != of) continue;
    input.tensor = convert(input.tensor);
    arguments.replace(input, input.tensor);
  }
  try {
    Outcome outcome = call_on(key, arguments.stack);
    const bool damaged = !guard::take_damage_since(first).empty();
    if (!outcome.ok() || !outcome.left_error.empty() || damaged) return std::nullopt;
    return ConvertedCall{std::move(arguments), std::move(outcome)};
  } catch (const DeviceFailed&) {
    return std::nullopt;
  }
}

}  // namespace opgate
