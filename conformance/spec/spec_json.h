// Specs as JSON: how those that are written in Python reach the plan, and processes that hold no Python.
#pragma once

#include <opgate/spec.h>

#include <nlohmann/json.hpp>

namespace opgate {

/// A model or an operator that the Python half describes; see OpSpec.as_json and ModelSpec.as_json. The
/// operator's schema is defined here where no library has defined it: it can be planned, and not called.
/// Throws SpecError.
Spec spec_from_json(const nlohmann::json& described);

}  // namespace opgate
