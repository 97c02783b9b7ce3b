// What operators are registered with in a Python process, where the modules of opgate.toml have registered
// kernels, too.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "spec/registration.h"
#include "spec/spec.h"

namespace opgate {

/// What this process has for the operators among `subjects`, and for those of `others` that it has.
OpRegistrations registrations_of(const std::vector<Spec>& subjects, const std::vector<std::string>& others);

/// The schema of "namespace::op.overload". Throws SpecError if there is no such operator.
std::string schema_of(const std::string& op);

/// The schema of a function from what its calls have shown, a line {"function"} of record/log.h as JSON, and
/// the names of the arguments that it gets as tuples. Throws SpecError if no call has returned, or if calls
/// give a parameter values of types that have nothing in common.
std::pair<std::string, std::set<std::string>> function_schema(const std::string& seen);

}  // namespace opgate
