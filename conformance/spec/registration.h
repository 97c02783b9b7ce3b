// What an operator is registered with: its kernels and tags.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <string>
#include <vector>

namespace opgate {

/// The dispatch keys for which the operator has a kernel of its own, in the order of their enumeration: "CPU",
/// "Meta", "AutogradCPU". Kernels that another key's alias gives (CompositeImplicitAutograd) count for the alias
/// alone.
std::vector<std::string> registered_kernels(const c10::OperatorHandle& op);

/// The names of the operator's tags, sorted: "pt2_compliant_tag".
std::vector<std::string> tag_names(const c10::OperatorHandle& op);

}  // namespace opgate
