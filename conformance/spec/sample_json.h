// Samples as JSON, so that those written in Python reach the native plan and a package can say what it was
// made for.
#pragma once

#include <c10/core/DeviceType.h>
#include <opgate/spec.h>

#include <nlohmann/json.hpp>

namespace opgate {

/// The dtype of that name. Throws SpecError where OpGate knows none.
c10::ScalarType known_dtype(const std::string& name);

/// "cpu" or "cuda". Throws SpecError for another.
c10::DeviceType known_device(const std::string& name);

nlohmann::json to_json(const Sample& sample);

/// Throws SpecError for JSON that describes no sample.
Sample sample_from_json(const nlohmann::json& json);

}  // namespace opgate
