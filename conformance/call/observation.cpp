#include "call/observation.h"

#include <optional>

#include "call/called_operators.h"
#include "inputs/damage.h"
#include "inputs/tensor_slots.h"
#include "process/default_generator.h"
#include "process/process_state.h"
#include "spec/spec.h"

namespace opgate {
namespace {

void require_gradients(const CallKey& key, const Arguments& arguments) {
  for (const TensorInput& input : arguments.tensors) {
    const at::Tensor& tensor = input.tensor;
    const bool can = tensor.defined() && (tensor.is_floating_point() || tensor.is_complex());
    if (can && !is_mutable(*key.spec, input.position)) tensor.set_requires_grad(true);
  }
}

Observation observed(const CallKey& key, ValueCache& values, const MaterializeOptions& options,
                     const Poison& poison, bool with_gradients) {
  guard::install();
  // A bad index or size may lead the operator far out of bounds, and where that met the heap of the worker,
  // the cases after this one would tell.
  const GuardScope scope(poison, is_bad_input(key.variant) ? Place::far_apart : Place::heap);
  MaterializeOptions poisoned = options;
  poisoned.gap = poison.gap;
  const uint64_t first = guard::next_serial();
  Observation seen{materialize(key, values, poisoned), {}, {}, {}, false};
  if (with_gradients) require_gradients(key, seen.arguments);
  if (key.spec->promised(Promise::nondeterministic_seeded)) seed_default_generator(key.device);
  // Handlers of signals take a call of the kernel each, and do not depend on layouts.
  const bool in_full = options.take_snapshots && key.is_contiguous();
  const ProcessState state(
      key.device, in_full ? ProcessState::Extent::everything : ProcessState::Extent::without_signals);
  std::optional<CalledOperators> called;
  if (in_full) called.emplace();
  seen.outcome = invoke(*key.spec->op, seen.arguments.stack, key.device);
  if (called) seen.called = called->names();
  called.reset();
  seen.state_changes = state.changes();
  seen.drew_random_numbers = state.drew_random_numbers();
  if (!seen.state_changes.empty() || seen.drew_random_numbers) state.restore();
  seen.damage = guard::take_damage_since(first);
  return seen;
}

}  // namespace

Outcome call_on(const CallKey& key, torch::jit::Stack stack) {
  if (key.spec->promised(Promise::nondeterministic_seeded)) seed_default_generator(key.device);
  return invoke(*key.spec->op, std::move(stack), key.device);
}

Observation observe(const CallKey& key, ValueCache& values, const MaterializeOptions& options,
                    const Poison& poison) {
  return observed(key, values, options, poison, /*with_gradients=*/false);
}

Observation observe_with_gradients(const CallKey& key, ValueCache& values) {
  return observed(key, values, {}, kFirstPoison, /*with_gradients=*/true);
}

}  // namespace opgate
