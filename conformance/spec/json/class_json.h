// The JSON form of a TorchBind class's spec, in which Python describes those that are written there; see
// opgate/class_spec.py for its parts.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace opgate {

struct Spec;

/// The parts of the spec that only classes have. The model and its methods throw SpecError until the binding
/// replaces them by the Python functions.
void read_class(const nlohmann::json& described, Spec& spec);

}  // namespace opgate
