// Cases that this machine cannot run, and another one has.
#pragma once

#include <functional>

#include "cli/project.h"
#include "cli/sweep.h"

namespace opgate {

/// Gives each case of `todo` on a device that is not here a verdict where there is evidence of it: passed,
/// where what was tested then is what is here now; owed, and why it is out of date, where it is not. Takes
/// them out of `todo`. What they cost: nothing. Throws SetupError for evidence that cannot be read.
Costs give_by_evidence(const Project& project, const Plan& plan, const RunHeader& header, CaseSet& todo,
                       const OnCase& on_case);

}  // namespace opgate
