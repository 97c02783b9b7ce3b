// The call of a case as a Python script of plain torch calls: to paste into a bug report, for someone who has
// no OpGate.
#pragma once

#include <string>

#include "checks/verdict.h"
#include "plan/config.h"
#include "plan/plan.h"

namespace opgate {

/// Makes the call, and asks of it what `check` asks where plain torch can; of other checks it prints what the
/// call returns. `judgement` is told in its docstring.
///
/// Throws SetupError for what no such script can say: a model's or a class's case, an undefined tensor, more
/// than 4096 elements.
std::string script(const PlannedCall& call, const Check& check, const Judgement& judgement,
                   const Config& config);

}  // namespace opgate
