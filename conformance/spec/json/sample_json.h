// Samples as JSON. Samples that are written in Python reach the native plan this way, and a package's
// manifest says this way which calls it was made for.
#pragma once

#include <c10/core/DeviceType.h>
#include <c10/core/ScalarType.h>

#include <opgate/sample.h>
#include <nlohmann/json_fwd.hpp>

#include <string>

namespace opgate {

/// The dtype of that name. Throws SpecError if OpGate knows no such dtype.
c10::ScalarType known_dtype(const std::string& name);

/// The type of device of that name: "cpu", or an accelerator such as "cuda". Throws SpecError for any other
/// name.
c10::DeviceType known_device(const std::string& name);

/// {"name": ..., "arguments": [...], "where": "file:line"}. Throws SpecError for an argument whose type
/// JSON cannot hold.
nlohmann::json to_json(const Sample& sample);

/// Throws SpecError for JSON that describes no sample.
Sample sample_from_json(const nlohmann::json& json);

}  // namespace opgate
