// Namespaces that each build of a library names anew, as those of Hugging Face's kernels do, which end with a
// hash. Specs, case ids, recordings and reports have a name for them that stays the same.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace opgate {

/// The namespaces of the builds that this process loads, by the name that stays the same.
using BuiltNamespaces = std::map<std::string, std::string>;

/// Makes these namespaces known to this process, instead of others.
void set_built_namespaces(BuiltNamespaces namespaces);

/// The name by which the dispatcher knows an operator, and Python a function: "_relu_cpu_30dc0ae::relu" for
/// "_relu_cpu::relu". An operator of another namespace has one name only.
std::string registered_name(std::string_view stable);

/// The reverse: the name that stays the same.
std::string stable_name(std::string_view registered);

}  // namespace opgate
