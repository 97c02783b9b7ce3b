// What the checks of memory ask of a call: damage in words, and which poison a result depends on.
#pragma once

#include <string>

#include "call/evidence.h"
#include "checks/verdict.h"

namespace opgate {

/// The finding for a damaged red zone: whose it is, where, how far.
Finding describe_damage(const Damage& damage, const Arguments& arguments);

enum class PoisonedMemory {
  outside,  ///< gaps and red zones
  fresh,    ///< what was allocated or freed during the call
};

/// Passes where the result is the same under both poisons, or differs for another reason than this kind of
/// memory: then the call is repeated with only this kind of memory poisoned otherwise, and without any
/// change, to tell a dependence from an operator that is not deterministic.
Judgement judge_poison(Evidence& evidence, PoisonedMemory kind, const std::string& promised);

}  // namespace opgate
