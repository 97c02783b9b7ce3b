// Integers of a draft that may say how often something is done. error.raises asks the largest ones, and a
// right operator works on them without an end; nobody has said that it must refuse them.
#pragma once

#include <chrono>
#include <optional>

#include "inputs/call_key.h"
#include "judging/verdict.h"

namespace opgate {

/// How long such a call may take: what refuses the integer does so at once.
inline constexpr std::chrono::seconds kLimitOfStepCount{15};

/// Whether the call gives the operator an integer so large that it could not end if it counts steps.
bool has_huge_integer(const CallKey& key);

/// Whether the call gives the operator of a draft a huge integer.
bool may_count_steps(const CallKey& key);

/// The note for such a call that did not end in time; none for other calls, and for a crash.
std::optional<Judgement> note_of_step_count(const CallKey& key, const Judgement& lost);

}  // namespace opgate
