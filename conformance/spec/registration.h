// What an operator is registered with: its kernels and tags.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <nlohmann/json_fwd.hpp>

#include <map>
#include <string>
#include <vector>

namespace opgate {

/// What the dispatcher of one process has for an operator.
struct OpRegistration {
  /// The dispatch keys for which the operator has a kernel of its own, in the order of their enumeration: "CPU",
  /// "Meta", "AutogradCPU". Kernels that another key's alias gives (CompositeImplicitAutograd) count for the
  /// alias alone.
  std::vector<std::string> kernels;
  std::vector<std::string> tags;  ///< names, sorted: "pt2_compliant_tag"
};

/// By name of the operator: "namespace::op" or "namespace::op.overload".
using OpRegistrations = std::map<std::string, OpRegistration>;

/// What this process has for the operator.
OpRegistration registration_of(const c10::OperatorHandle& op);

void to_json(nlohmann::json& json, const OpRegistration& registration);
void from_json(const nlohmann::json& json, OpRegistration& registration);

}  // namespace opgate
