// Makes one call and records everything that it did.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "call/invoke.h"
#include "inputs/arguments.h"
#include "memory/guard_allocator.h"

namespace opgate {

/// One observed call: its arguments, with a snapshot of each storage before the call, what it returned or
/// raised, and its side effects.
struct Observation {
  Arguments arguments;
  Outcome outcome;
  std::vector<Damage> damage;              ///< to red zones of arguments and of the call's own blocks
  std::vector<std::string> state_changes;  ///< of the process and thread, in words; they have been undone
  bool drew_random_numbers = false;        ///< whether it used the default generator
  /// The operators of libraries other than PyTorch that the operator called, by name; empty unless all is
  /// observed: snapshots of contiguous arguments.
  std::set<std::string> called = {};
};

/// Materializes the arguments that `key` names and makes the call eagerly, through the dispatcher, in
/// memory filled with `poison`. Throws SetupError if the arguments cannot be made.
Observation observe(const CallKey& key, ValueCache& values, const MaterializeOptions& options = {},
                    const Poison& poison = kFirstPoison);

/// The same, where each argument that can require a gradient does, those that the operator writes excepted:
/// the call goes through the kernel for Autograd in earnest.
Observation observe_with_gradients(const CallKey& key, ValueCache& values);

/// Makes the call on the arguments in `stack`. The default generator is seeded first if the spec promises
/// nondeterministic_seeded.
Outcome call_on(const CallKey& key, torch::jit::Stack stack);

}  // namespace opgate
