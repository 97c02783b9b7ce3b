// Verdicts on cases that this machine cannot run, from evidence of a machine that has run them.
#pragma once

#include <functional>

#include "cli/project/project.h"
#include "cli/project/run_cases.h"

namespace opgate {

/// Gives a verdict to each case of `todo` whose operator has evidence for a device that this machine lacks,
/// and removes it from `todo`. A case passes if the sources, OpGate and torch are those that were tested;
/// otherwise it is owed (not run here), and the reason says what is out of date. Returns the costs of these
/// cases: their calls, which take no time. Throws SetupError for evidence that cannot be read.
Costs give_by_evidence(const Project& project, const Plan& plan, const RunHeader& header, CaseSet& todo,
                       const OnCase& on_case);

}  // namespace opgate
