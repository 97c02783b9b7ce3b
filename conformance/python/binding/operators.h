// What operators are registered with in a Python process, where the modules of opgate.toml have registered
// kernels, too.
#pragma once

#include <string>
#include <vector>

#include "spec/registration.h"
#include "spec/spec.h"

namespace opgate {

/// What this process has for the operators among `subjects`, and for those of `others` that it has.
OpRegistrations registrations_of(const std::vector<Spec>& subjects, const std::vector<std::string>& others);

/// The schema of "namespace::op.overload". Throws SpecError if there is no such operator.
std::string schema_of(const std::string& op);

}  // namespace opgate
