// Verdicts on cases that this machine cannot run, from evidence of a machine that has run them.
#pragma once

#include "plan/case_set.h"
#include "plan/config.h"
#include "plan/costs.h"
#include "plan/plan.h"
#include "run/journal.h"

namespace opgate {

/// Gives a verdict to each case of `todo` whose operator has evidence for a device that this machine lacks,
/// removes it from `todo` and reports it to `listener`. A case passes if the sources, torch and the revision
/// of its check are those that were tested; otherwise it is owed (not run here), and the reason says what is
/// out of date. Returns the costs of these cases: their calls, which take no time. Throws SetupError for
/// evidence that cannot be read.
Costs give_by_evidence(const Config& config, const Plan& plan, const RunHeader& header, CaseSet& todo,
                       RunListener& listener);

}  // namespace opgate
