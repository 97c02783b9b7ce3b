#include "call/observation.h"

#include "call/process_state.h"

namespace opgate {

Outcome call_on(const CallKey& key, torch::jit::Stack stack) {
  if (key.spec->promised(Promise::draws_random)) seed_default_generator(key.device);
  return invoke(*key.spec->op, std::move(stack), key.device);
}

Observation observe(const CallKey& key, ValueCache& values, const Making& making, const Poison& poison) {
  guard::install();
  const GuardScope scope(poison);
  Making poisoned = making;
  poisoned.gap = poison.gap;
  const uint64_t first = guard::next_serial();
  Observation seen{materialise(key, values, poisoned), {}, {}, {}, {}, false};
  if (key.spec->promised(Promise::draws_random)) seed_default_generator(key.device);
  const uint64_t before = guard::next_serial();
  const ProcessState state(key.device);
  seen.outcome = invoke(*key.spec->op, seen.arguments.stack, key.device);
  seen.state_changes = state.changes();
  seen.drew_random_numbers = state.drew_random_numbers();
  if (!seen.state_changes.empty() || seen.drew_random_numbers) state.restore();
  seen.allocated = guard::alive_since(before);
  seen.damage = guard::take_damage_since(first);
  return seen;
}

}  // namespace opgate
