// What opgate/script needs to know for a Python script of plain torch calls that makes the call of a case,
// for a bug report to someone who does not have OpGate.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "plan/config.h"
#include "plan/plan.h"
#include "run/worker/protocol.h"

namespace opgate {

/// Throws SetupError for a case that no script can make: a case of a model or a class, or an undefined
/// tensor.
nlohmann::json script_request(const PlannedCall& call, const Check& check, const Config& config,
                              const Setup& setup);

}  // namespace opgate
