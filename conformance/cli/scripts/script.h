// Writes the call of a case as a Python script of plain torch calls, for a bug report to someone who does
// not have OpGate.
#pragma once

#include <string>

#include "judging/verdict.h"
#include "plan/config.h"
#include "plan/plan.h"

namespace opgate {

/// Returns a script that makes the call and tests what `check` demands, where plain torch can do so; for
/// other checks, the script prints what the call returns. Its docstring says what `judgement` found.
///
/// Throws SetupError for a case that cannot be written as such a script: a case of a model or a class, an
/// undefined tensor, or arguments with more than 4096 elements.
std::string script(const PlannedCall& call, const Check& check, const Judgement& judgement,
                   const Config& config);

}  // namespace opgate
