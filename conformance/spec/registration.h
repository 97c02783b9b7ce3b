// What an operator is registered with: its kernels and tags.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <map>
#include <string>
#include <vector>

namespace c10 {
class OperatorHandle;
}

namespace opgate {

/// What the dispatcher of one process has for an operator.
struct OpRegistration {
  /// The dispatch keys for which the operator has a kernel of its own, in the order of their enumeration:
  /// "CPU", "Meta", "AutogradCPU". Kernels that another key's alias gives (CompositeImplicitAutograd) count
  /// for the alias alone.
  std::vector<std::string> kernels;
  std::vector<std::string> tags;  ///< names, sorted: "pt2_compliant_tag"
  bool fake = false;              ///< has_fake_kernel(); in Python, without those that only raise
  /// The sources that define the operator or register its kernels, as their compiler or Python names them;
  /// sorted.
  std::vector<std::string> files;
};

/// By name of the operator: "namespace::op" or "namespace::op.overload".
using OpRegistrations = std::map<std::string, OpRegistration>;

/// The dispatch keys for which only a process with the project's Python modules has a kernel, by name of the
/// operator; operators without any are left out.
using PythonKernels = std::map<std::string, std::vector<std::string>>;

/// Compares `with_python` with what this process has.
PythonKernels kernels_only_in_python(const OpRegistrations& with_python);

/// True if a kernel is registered that runs on Meta tensors. The dispatcher's own fallback, which every
/// operator has and which raises, does not count.
bool has_fake_kernel(const c10::OperatorHandle& op);

/// True if the operator's own kernel is composed of other operators and serves every device, Meta and
/// Autograd included.
bool is_composite(const c10::OperatorHandle& op);

/// What this process has for the operator.
OpRegistration registration_of(const c10::OperatorHandle& op);

void to_json(nlohmann::json& json, const OpRegistration& registration);
void from_json(const nlohmann::json& json, OpRegistration& registration);

}  // namespace opgate
