// Specs as JSON. Specs that are written in Python reach the plan, and processes without Python, this way.
#pragma once

#include <nlohmann/json.hpp>

#include "spec/spec.h"

namespace opgate {

/// The spec of a model or an operator that the Python half describes; see OpSpec.as_json and
/// ModelSpec.as_json. If no library has defined the operator, its schema is defined here, so that its calls
/// can be planned but not made. `known` are the specs that it may be like. Throws SpecError for JSON that
/// describes no spec, or an incomplete one.
Spec spec_from_json(const nlohmann::json& described, const std::vector<Spec>& known = {});

/// An accuracy, or null without one, in the format of Accuracy.as_json.
nlohmann::json to_json(const std::optional<Accuracy>& accuracy);

/// The inverse of to_json(). Throws nlohmann::json::exception for another format.
std::optional<Accuracy> accuracy_from_json(const nlohmann::json& described);

}  // namespace opgate
