// Everything that one call did.
#pragma once

#include <string>
#include <vector>

#include "call/arguments.h"
#include "call/invoke.h"
#include "memory/guard_allocator.h"

namespace opgate {

/// One call under instruments: the arguments as they were given, what it returned or raised, and what else it
/// did.
struct Observation {
  Arguments arguments;
  Outcome outcome;
  std::vector<Damage> damage;    ///< to the red zones of arguments and of what the call allocated
  std::vector<Block> allocated;  ///< during the call, and alive after it: the outputs, and what else
  std::vector<std::string> state_changes;  ///< of the process and thread, in words; undone since
  bool drew_random_numbers = false;        ///< from the default generator
};

/// Materialises the arguments that `key` names and makes the call, eager through the dispatcher, in memory
/// that holds `poison`.
Observation observe(const CallKey& key, ValueCache& values, const Making& making = {},
                    const Poison& poison = kFirstPoison);

/// The call again on arguments that exist already.
Outcome call_on(const CallKey& key, torch::jit::Stack stack);

}  // namespace opgate
