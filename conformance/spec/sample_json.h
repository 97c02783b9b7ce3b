// Samples as JSON, so that those written in Python reach the native plan and a package can say what it was
// made for.
#pragma once

#include <opgate/spec.h>

#include <nlohmann/json.hpp>

namespace opgate {

nlohmann::json to_json(const Sample& sample);

/// Throws SpecError for JSON that describes no sample.
Sample sample_from_json(const nlohmann::json& json);

}  // namespace opgate
